/** The picture of a plane: panned and zoomed like a map, by mouse, touch and keyboard. */
import type { Level } from "./levels";
import { type Coloring, type Plane, type Tile, type Tiles, tileLength } from "./tiles";

export interface Camera {
  /** The element of the finest level that is in the middle of the screen. */
  row: number;
  column: number;
  /** Pixels of the screen for an element of the finest level. */
  zoom: number;
}

/** What is drawn; the map itself keeps only the camera. */
export interface Scene {
  levels: Level[];
  tiles: Tiles;
  plane: Plane;
  coloring(): Coloring;
  isColor: boolean;
  grid: boolean;
  /** How full a stored value is, from 0 to 1; -1 where nothing is stored; undefined where it is not known yet. */
  fill(row: number, column: number, level: number): number | undefined;
}

export class ImageMap {
  readonly canvas = document.createElement("canvas");
  camera: Camera = { row: 0, column: 0, zoom: 1 };
  onMove: () => void = () => {};
  onPoint: (row: number, column: number) => void = () => {};
  onChoose: (row: number, column: number) => void = () => {};
  onFrame: (visible: Set<string>, level: number) => void = () => {};
  private scene: Scene | null = null;
  private pending = false;
  private pointers = new Map<number, { x: number; y: number }>();
  private moved = false;

  constructor() {
    this.canvas.tabIndex = 0;
    this.canvas.setAttribute("role", "img");
    this.canvas.setAttribute("aria-label", "Picture of the values; arrows move it, plus and minus zoom, 0 shows all");
    this.canvas.addEventListener("wheel", (event) => this.wheel(event), { passive: false });
    this.canvas.addEventListener("pointerdown", (event) => this.down(event));
    this.canvas.addEventListener("pointermove", (event) => this.move(event));
    this.canvas.addEventListener("pointerup", (event) => this.up(event));
    this.canvas.addEventListener("pointercancel", (event) => this.pointers.delete(event.pointerId));
    this.canvas.addEventListener("keydown", (event) => this.key(event));
    new ResizeObserver(() => this.draw()).observe(this.canvas);
  }

  show(scene: Scene): void {
    this.scene = scene;
    this.draw();
  }

  private get shape(): [number, number] {
    const { shape } = this.scene!.levels[0]!.node.array!;
    return [shape[this.scene!.plane.rows]!, shape[this.scene!.plane.columns]!];
  }

  /** Show all of the plane. */
  fit(): void {
    const [rows, columns] = this.shape;
    const { clientWidth, clientHeight } = this.canvas;
    const zoom = Math.min((clientWidth || 800) / columns, (clientHeight || 600) / rows);
    this.camera = { row: rows / 2, column: columns / 2, zoom };
    this.settle();
  }

  /** Return the element of the finest level under a place on the canvas. */
  elementAt(x: number, y: number): [number, number] {
    const { row, column, zoom } = this.camera;
    const { clientWidth, clientHeight } = this.canvas;
    return [Math.floor(row + (y - clientHeight / 2) / zoom), Math.floor(column + (x - clientWidth / 2) / zoom)];
  }

  draw(): void {
    if (this.pending) return;
    this.pending = true;
    requestAnimationFrame(() => {
      this.pending = false;
      if (this.scene) this.paint(this.scene);
    });
  }

  private settle(): void {
    const [rows, columns] = this.shape;
    this.camera.row = Math.max(0, Math.min(rows, this.camera.row));
    this.camera.column = Math.max(0, Math.min(columns, this.camera.column));
    this.camera.zoom = Math.max(1e-4, Math.min(256, this.camera.zoom));
    this.onMove();
    this.draw();
  }

  private zoomAt(factor: number, x: number, y: number): void {
    const { clientWidth, clientHeight } = this.canvas;
    const { zoom } = this.camera;
    const next = Math.max(1e-4, Math.min(256, zoom * factor));
    this.camera.column += ((x - clientWidth / 2) * (1 / zoom - 1 / next));
    this.camera.row += ((y - clientHeight / 2) * (1 / zoom - 1 / next));
    this.camera.zoom = next;
    this.settle();
  }

  private wheel(event: WheelEvent): void {
    event.preventDefault();
    this.zoomAt(2 ** (-event.deltaY / 300), event.offsetX, event.offsetY);
  }

  private down(event: PointerEvent): void {
    this.canvas.setPointerCapture(event.pointerId);
    this.pointers.set(event.pointerId, { x: event.offsetX, y: event.offsetY });
    this.moved = false;
  }

  private move(event: PointerEvent): void {
    const last = this.pointers.get(event.pointerId);
    if (!last) {
      this.onPoint(...this.elementAt(event.offsetX, event.offsetY));
      return;
    }
    const [dx, dy] = [event.offsetX - last.x, event.offsetY - last.y];
    if (this.pointers.size === 2) this.pinch(event);
    else {
      this.camera.column -= dx / this.camera.zoom;
      this.camera.row -= dy / this.camera.zoom;
    }
    this.moved ||= Math.abs(dx) + Math.abs(dy) > 2;
    this.pointers.set(event.pointerId, { x: event.offsetX, y: event.offsetY });
    this.settle();
  }

  private pinch(event: PointerEvent): void {
    const other = [...this.pointers].find(([id]) => id !== event.pointerId)![1];
    const last = this.pointers.get(event.pointerId)!;
    const before = Math.hypot(last.x - other.x, last.y - other.y);
    const after = Math.hypot(event.offsetX - other.x, event.offsetY - other.y);
    if (before > 0 && after > 0) this.zoomAt(after / before, other.x, other.y);
  }

  private up(event: PointerEvent): void {
    this.pointers.delete(event.pointerId);
    if (!this.moved) this.onChoose(...this.elementAt(event.offsetX, event.offsetY));
  }

  private key(event: KeyboardEvent): void {
    const { clientWidth, clientHeight } = this.canvas;
    const step = Math.min(clientWidth, clientHeight) / 8 / this.camera.zoom;
    const moves: Record<string, [number, number]> = {
      ArrowUp: [-step, 0], ArrowDown: [step, 0], ArrowLeft: [0, -step], ArrowRight: [0, step],
    };
    const move = moves[event.key];
    if (move) {
      this.camera.row += move[0];
      this.camera.column += move[1];
      this.settle();
    } else if (event.key === "+" || event.key === "=") this.zoomAt(2, clientWidth / 2, clientHeight / 2);
    else if (event.key === "-") this.zoomAt(0.5, clientWidth / 2, clientHeight / 2);
    else if (event.key === "0") this.fit();
    else return;
    event.preventDefault();
  }

  /** Return the level whose elements are about as large as a pixel of the screen. */
  private levelFor(scene: Scene): number {
    let chosen = 0;
    scene.levels.forEach((level, number) => {
      const factor = Math.max(level.factors[scene.plane.rows]!, level.factors[scene.plane.columns]!);
      if (factor * this.camera.zoom <= 1.01) chosen = number;
    });
    return chosen;
  }

  private paint(scene: Scene): void {
    const { canvas } = this;
    const ratio = window.devicePixelRatio || 1;
    const [width, height] = [Math.round(canvas.clientWidth * ratio), Math.round(canvas.clientHeight * ratio)];
    if (canvas.width !== width || canvas.height !== height) Object.assign(canvas, { width, height });
    const context = canvas.getContext("2d")!;
    context.clearRect(0, 0, width, height);
    context.imageSmoothingEnabled = false;
    const chosen = this.levelFor(scene);
    const coarsest = scene.levels.length - 1;
    const visible = new Map<string, Tile>();
    const painted = coarsest === chosen ? [chosen] : [coarsest, chosen]; // something is there while tiles are read
    for (const number of painted) for (const tile of this.visibleTiles(scene, number)) visible.set(tile.key, tile);
    scene.tiles.want(new Set(visible.keys()));
    const coloring = scene.coloring();
    for (const tile of visible.values()) this.paintTile(context, scene, tile, coloring, ratio);
    if (scene.grid) this.paintGrid(context, scene, chosen, ratio);
    const waiting = [...visible.values()].filter((tile) => !tile.parts && !tile.error).length;
    canvas.dataset["waiting"] = String(waiting);
    const shown = [...visible.values()].filter((tile) => tile.level === chosen).map((tile) => tile.key);
    this.onFrame(new Set(shown), chosen);
  }

  /** Return the rows and columns of a level that are on the screen. */
  private window(scene: Scene, number: number): [number, number, number, number] {
    const level = scene.levels[number]!;
    const { rows, columns } = scene.plane;
    const { row, column, zoom } = this.camera;
    const [down, right] = [level.factors[rows]!, level.factors[columns]!];
    const [high, wide] = [this.canvas.clientHeight / 2 / zoom, this.canvas.clientWidth / 2 / zoom];
    const { shape } = level.node.array!;
    return [
      Math.max(0, Math.floor((row - high) / down)), Math.min(shape[rows]!, Math.ceil((row + high) / down)),
      Math.max(0, Math.floor((column - wide) / right)), Math.min(shape[columns]!, Math.ceil((column + wide) / right)),
    ];
  }

  private *visibleTiles(scene: Scene, number: number): Generator<Tile> {
    const level = scene.levels[number]!;
    const [high, wide] = [tileLength(level, scene.plane.rows), tileLength(level, scene.plane.columns)];
    const [top, bottom, left, right] = this.window(scene, number);
    for (let row = Math.floor(top / high); row * high < bottom; row++) {
      for (let column = Math.floor(left / wide); column * wide < right; column++) {
        yield scene.tiles.tile(number, row, column, scene.plane);
      }
    }
  }

  /** Return where an element of a level lies on the canvas, in its pixels. */
  private place(scene: Scene, number: number, row: number, column: number, ratio: number): [number, number] {
    const level = scene.levels[number]!;
    const { zoom } = this.camera;
    const y = (row * level.factors[scene.plane.rows]! - this.camera.row) * zoom + this.canvas.clientHeight / 2;
    const x = (column * level.factors[scene.plane.columns]! - this.camera.column) * zoom + this.canvas.clientWidth / 2;
    return [Math.round(x * ratio), Math.round(y * ratio)];
  }

  private paintTile(
    context: CanvasRenderingContext2D, scene: Scene, tile: Tile, coloring: Coloring, ratio: number,
  ): void {
    const [x, y] = this.place(scene, tile.level, tile.row, tile.column, ratio);
    const [right, bottom] = this.place(scene, tile.level, tile.row + tile.height, tile.column + tile.width, ratio);
    const image = scene.tiles.image(tile, coloring, scene.isColor);
    if (image) {
      context.drawImage(image, x, y, right - x, bottom - y);
    } else if (tile.error) {
      context.fillStyle = "#b00020";
      context.font = `${12 * ratio}px sans-serif`;
      context.fillText(tile.error, x + 4, y + 16 * ratio, right - x - 8);
    }
  }

  private paintGrid(context: CanvasRenderingContext2D, scene: Scene, number: number, ratio: number): void {
    const { stored, shape } = scene.levels[number]!.node.array!;
    const [high, wide] = [stored[scene.plane.rows]!, stored[scene.plane.columns]!];
    const [top, bottom, left, right] = this.window(scene, number);
    if ((bottom - top) / high > 100 || (right - left) / wide > 100) return;
    context.lineWidth = ratio;
    for (let row = Math.floor(top / high); row * high < bottom; row++) {
      for (let column = Math.floor(left / wide); column * wide < right; column++) {
        const [x, y] = this.place(scene, number, row * high, column * wide, ratio);
        const ends = [Math.min((row + 1) * high, shape[scene.plane.rows]!), Math.min((column + 1) * wide, shape[scene.plane.columns]!)];
        const [x2, y2] = this.place(scene, number, ends[0]!, ends[1]!, ratio);
        const fill = scene.fill(row, column, number);
        if (fill !== undefined) {
          context.fillStyle = fill < 0 ? "rgba(128, 128, 128, 0.6)" : `rgba(255, 140, 0, ${0.05 + 0.3 * fill})`;
          context.fillRect(x, y, x2 - x, y2 - y);
        }
        context.strokeStyle = "rgba(255, 255, 255, 0.8)";
        context.strokeRect(x + 0.5, y + 0.5, x2 - x, y2 - y);
      }
    }
  }
}
