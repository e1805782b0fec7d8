/** Parts of a level that are read and drawn as one: whole chunks, about as large as a part of the screen. */
import { CHANNEL_COLORS, colorTable, stepOf } from "./colors";
import { type Level, type Meaning, valueOf } from "./levels";
import type { Part, Reader, Selection } from "./reader";

const LEAST = 256;
const KEPT = 400;

export interface Plane {
  /** The axes that run down and to the right. */
  rows: number;
  columns: number;
  /** An axis of colours or channels that are shown together; -1 if there is none. */
  channels: number;
  /** The index along each other axis, on the finest level. */
  indices: number[];
}

export interface Coloring {
  map: string;
  low: number;
  high: number;
}

export interface Tile {
  key: string;
  level: number;
  row: number;
  column: number;
  height: number;
  width: number;
  parts: Part[] | null;
  error: string | null;
  image: OffscreenCanvas | null;
  coloring: string;
}

/** Return the length of a tile along an axis: whole chunks. */
export function tileLength(level: Level, axis: number): number {
  const { shape, chunks } = level.node.array!;
  const chunk = Math.max(1, chunks[axis]!);
  return Math.max(1, Math.min(shape[axis]!, chunk * Math.max(1, Math.ceil(LEAST / chunk))));
}

/** Return the channels that are shown together: at most six. */
export function channelCount(level: Level, plane: Plane): number {
  return plane.channels < 0 ? 1 : Math.min(CHANNEL_COLORS.length, level.node.array!.shape[plane.channels]!);
}

export class Tiles {
  private readonly kept = new Map<string, Tile>();
  private wanted = new Set<string>();
  low = Infinity;
  high = -Infinity;

  constructor(
    private readonly reader: Reader,
    private readonly levels: Level[],
    private readonly meaning: Meaning,
    private readonly changed: () => void,
  ) {}

  /** Forget the limits of the values: another plane is shown. */
  restart(): void {
    this.low = Infinity;
    this.high = -Infinity;
    this.kept.clear();
  }

  /** Say which tiles are on the screen: others that wait are not read. */
  want(keys: Set<string>): void {
    this.wanted = keys;
  }

  key(level: number, row: number, column: number, plane: Plane): string {
    return [level, row, column, plane.rows, plane.columns, plane.channels, ...plane.indices].join(",");
  }

  /** Return a tile; it is read if it is not there yet, and drawn without values until then. */
  tile(level: number, row: number, column: number, plane: Plane): Tile {
    const key = this.key(level, row, column, plane);
    let tile = this.kept.get(key);
    if (tile) {
      this.kept.delete(key); // used last
      this.kept.set(key, tile);
      return tile;
    }
    const { shape } = this.levels[level]!.node.array!;
    const [high, wide] = [tileLength(this.levels[level]!, plane.rows), tileLength(this.levels[level]!, plane.columns)];
    tile = {
      key, level, row: row * high, column: column * wide,
      height: Math.min(high, shape[plane.rows]! - row * high), width: Math.min(wide, shape[plane.columns]! - column * wide),
      parts: null, error: null, image: null, coloring: "",
    };
    this.kept.set(key, tile);
    this.wanted.add(key);
    void this.load(tile, { ...plane, indices: [...plane.indices] });
    this.forget();
    return tile;
  }

  private async load(tile: Tile, plane: Plane): Promise<void> {
    const level = this.levels[tile.level]!;
    const isWanted = () => this.wanted.has(tile.key);
    try {
      const part = await this.reader.read(level.node.path, selectionOf(level, tile, plane), isWanted);
      if (part === null) {
        this.kept.delete(tile.key);
        if (isWanted()) this.changed(); // wanted again meanwhile
        return;
      }
      if (this.kept.get(tile.key) !== tile) return; // another plane is shown now
      const parts = plane.channels < 0 ? [part] : channelsOf(part, plane);
      tile.parts = plane.rows < plane.columns ? parts : parts.map(transposed);
      this.stretch(tile.parts);
    } catch (error) {
      tile.error = error instanceof Error ? error.message : String(error);
    }
    this.changed();
  }

  /** Widen the limits of the values that were read. */
  private stretch(parts: Part[]): void {
    for (const part of parts) {
      for (const stored of part.values as unknown as number[]) {
        const value = valueOf(stored, this.meaning);
        if (value < this.low && Number.isFinite(value)) this.low = value;
        if (value > this.high && Number.isFinite(value)) this.high = value;
      }
    }
  }

  /** Return the picture of a tile in these colours; null before it was read. */
  image(tile: Tile, coloring: Coloring, isColor: boolean): OffscreenCanvas | null {
    if (!tile.parts) return null;
    const wanted = `${coloring.map},${coloring.low},${coloring.high},${isColor}`;
    if (!tile.image || tile.coloring !== wanted) {
      tile.image ??= new OffscreenCanvas(tile.width, tile.height);
      const context = tile.image.getContext("2d")!;
      const pixels = context.createImageData(tile.width, tile.height);
      if (tile.parts.length > 1) paintChannels(pixels.data, tile.parts, coloring, this.meaning, isColor);
      else paintValues(pixels.data, tile.parts[0]!, coloring, this.meaning);
      context.putImageData(pixels, 0, 0);
      tile.coloring = wanted;
    }
    return tile.image;
  }

  /** Return all values that are on the screen. */
  *values(keys: Iterable<string>): Generator<number> {
    for (const key of keys) {
      for (const part of this.kept.get(key)?.parts ?? []) {
        for (const stored of part.values as unknown as number[]) yield valueOf(stored, this.meaning);
      }
    }
  }

  get(key: string): Tile | undefined {
    return this.kept.get(key);
  }

  private forget(): void {
    for (const key of this.kept.keys()) {
      if (this.kept.size <= KEPT) return;
      if (!this.wanted.has(key)) this.kept.delete(key);
    }
  }
}

function selectionOf(level: Level, tile: Tile, plane: Plane): Selection {
  const { shape } = level.node.array!;
  return shape.map((length, axis) => {
    if (axis === plane.rows) return [tile.row, tile.row + tile.height] as [number, number];
    if (axis === plane.columns) return [tile.column, tile.column + tile.width] as [number, number];
    if (axis === plane.channels) return [0, channelCount(level, plane)] as [number, number]; // chunks may hold them all
    return Math.min(length - 1, Math.floor((plane.indices[axis] ?? 0) / level.factors[axis]!));
  });
}

/** Return the plane of each channel of a part that was read with all of them. */
function channelsOf(part: Part, plane: Plane): Part[] {
  const axis = [plane.rows, plane.columns, plane.channels].sort((one, other) => one - other).indexOf(plane.channels);
  const product = (lengths: number[]) => lengths.reduce((all, length) => all * length, 1);
  const [count, inner] = [part.shape[axis]!, product(part.shape.slice(axis + 1))];
  const shape = part.shape.filter((_, each) => each !== axis);
  return Array.from({ length: count }, (_, channel) => {
    const values = part.values.slice(0, product(shape));
    for (let place = 0; place < values.length; place++) {
      const outer = Math.floor(place / inner);
      values[place] = part.values[(outer * count + channel) * inner + (place - outer * inner)]!;
    }
    return { values, shape };
  });
}

/** Return a part with rows before columns; in the array the columns come first. */
function transposed(part: Part): Part {
  const [columns, rows] = part.shape as [number, number];
  const values = part.values.slice();
  for (let row = 0; row < rows; row++) {
    for (let column = 0; column < columns; column++) values[row * columns + column] = part.values[column * rows + row]!;
  }
  return { values, shape: [rows, columns] };
}

function paintValues(pixels: Uint8ClampedArray, part: Part, coloring: Coloring, meaning: Meaning): void {
  const table = colorTable(coloring.map);
  const values = part.values as ArrayLike<number>;
  for (let place = 0; place < values.length; place++) {
    const value = valueOf(values[place]!, meaning);
    if (Number.isNaN(value)) continue;
    const step = stepOf(value, coloring.low, coloring.high) * 3;
    pixels[place * 4] = table[step]!;
    pixels[place * 4 + 1] = table[step + 1]!;
    pixels[place * 4 + 2] = table[step + 2]!;
    pixels[place * 4 + 3] = 255;
  }
}

function paintChannels(
  pixels: Uint8ClampedArray, parts: Part[], coloring: Coloring, meaning: Meaning, isColor: boolean,
): void {
  const [low, high] = isColor ? [0, 256] : [coloring.low, coloring.high];
  parts.slice(0, isColor ? 3 : parts.length).forEach((part, channel) => {
    const color = CHANNEL_COLORS[channel]!;
    const values = part.values as ArrayLike<number>;
    for (let place = 0; place < values.length; place++) {
      const value = valueOf(values[place]!, meaning);
      if (Number.isNaN(value)) continue;
      const step = stepOf(value, low, high) / 255;
      for (let shade = 0; shade < 3; shade++) pixels[place * 4 + shade]! += color[shade]! * step;
      pixels[place * 4 + 3] = 255;
    }
  });
}
