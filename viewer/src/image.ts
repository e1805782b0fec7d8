/** The image of an array or a pyramid: the map with its controls and panels. */
import { COLOR_MAPS } from "./colors";
import { labelled, make, short } from "./dom";
import { axisNames, type Level, type Meaning, meaningOf, valueOf } from "./levels";
import { ImageMap, type Scene } from "./map";
import type { Hierarchy, Node } from "./nodes";
import { countIn, drawHistogram, drawLine } from "./panels";
import type { Reader, Selection } from "./reader";
import type { State } from "./state";
import { type Coloring, type Plane, Tiles } from "./tiles";

const BINS = 60;
const LONGEST_LINE = 100_000;

export class ImageView {
  private readonly map = new ImageMap();
  private readonly tiles: Tiles;
  private readonly meaning: Meaning;
  private readonly names: string[];
  private readonly channelAxis: number;
  private readonly plane: Plane;
  private readonly scene: Scene;
  private readonly status = make("output", { className: "status", aria: { label: "Value under the pointer" } });
  private readonly histogram = make("canvas", { className: "panel", aria: { role: "img", label: "How often values occur" } });
  private readonly line = make("canvas", { className: "panel", aria: { role: "img", label: "Values along a line" } });
  private readonly lineAxis = make("select");
  private readonly low = make("input", { type: "number", step: "any", id: "low" });
  private readonly high = make("input", { type: "number", step: "any", id: "high" });
  private readonly colorMap = make("select", { id: "colors" });
  private isFixed = false;
  private chosen: [number, number] | null = null;
  private pointed: [number, number] | null = null;
  private readonly fills = new Map<string, number | undefined>();
  private largest = 1;

  constructor(
    private readonly hierarchy: Hierarchy,
    private readonly reader: Reader,
    node: Node,
    private readonly levels: Level[],
    private readonly place: HTMLElement,
    private readonly state: State,
    private readonly changed: (state: State) => void,
  ) {
    this.meaning = meaningOf(levels[0]!.node);
    this.names = axisNames(node, levels[0]!.node);
    this.channelAxis = this.findChannels();
    this.plane = this.firstPlane();
    this.tiles = new Tiles(reader, levels, this.meaning, () => this.map.draw());
    this.scene = {
      levels, tiles: this.tiles, plane: this.plane, coloring: () => this.coloring(),
      isColor: this.isColor(), grid: state["grid"] === "1", fill: (row, column, level) => this.fill(row, column, level),
    };
  }

  private get shape(): number[] {
    return this.levels[0]!.node.array!.shape;
  }

  /** Return the axis of colours or of a few channels; -1 if there is none. */
  private findChannels(): number {
    const { shape } = this;
    if (shape.length < 3) return -1;
    const isChannel = (axis: number) => /^(c|s|channels?|colou?rs?|bands?|rgba?)$/i.test(this.names[axis]!);
    const found = shape.findIndex((length, axis) => isChannel(axis) && length > 1 && length <= 6);
    const last = shape.length - 1;
    return found < 0 && [3, 4].includes(shape[last]!) ? last : found;
  }

  /** Choose the axes of the picture: the last two, without one of colours. */
  private firstPlane(): Plane {
    const { shape, state, channelAxis } = this;
    const left = shape.map((_, axis) => axis).filter((axis) => axis !== channelAxis);
    const axis = (name: string, otherwise: number) => (state[name] ? Number(state[name]) : otherwise);
    const [rows, columns] = [axis("rows", left[left.length - 2]!), axis("columns", left[left.length - 1]!)];
    const indices = (state["at"] ?? "").split(",").map(Number);
    const isTogether = state["channels"] !== "0" && channelAxis !== rows && channelAxis !== columns;
    return {
      rows, columns, channels: isTogether ? channelAxis : -1,
      indices: shape.map((length, each) => Math.min(length - 1, indices[each] || 0)),
    };
  }

  /** Say whether the channels are red, green and blue. */
  private isColor(): boolean {
    const array = this.levels[0]!.node.array!;
    const count = this.plane.channels < 0 ? 0 : array.shape[this.plane.channels]!;
    return (count === 3 || count === 4) && /^(uint8|\|u1)$/.test(array.dataType);
  }

  private coloring(): Coloring {
    if (!this.isFixed) {
      if (document.activeElement !== this.low) this.low.value = Number.isFinite(this.tiles.low) ? short(this.tiles.low) : "";
      if (document.activeElement !== this.high) this.high.value = Number.isFinite(this.tiles.high) ? short(this.tiles.high) : "";
      return { map: this.colorMap.value, low: this.tiles.low, high: this.tiles.high };
    }
    return { map: this.colorMap.value, low: Number(this.low.value), high: Number(this.high.value) };
  }

  show(): void {
    const panels = make("div", { className: "panels" },
      make("figure", {}, make("figcaption", {}, "Values on the screen"), this.histogram),
      make("figure", {}, make("figcaption", {}, labelled("Values along", this.lineAxis), " through the place of a click"), this.line));
    const overlay = make("div", { className: "map" }, this.map.canvas, this.status);
    this.place.replaceChildren(this.controls(), overlay, panels);
    this.map.onMove = () => this.remember();
    this.map.onPoint = (row, column) => this.tell(row, column);
    this.map.onChoose = (row, column) => { this.chosen = [row, column]; void this.drawLine(); };
    this.map.onFrame = (visible) => this.drawHistogram(visible);
    this.map.show(this.scene);
    const [zoom, row, column] = ["zoom", "row", "column"].map((name) => Number(this.state[name]));
    if (zoom) this.map.camera = { zoom, row: row!, column: column! };
    else this.map.fit();
    this.map.draw();
  }

  private controls(): HTMLElement {
    const bar = make("div", { className: "controls", aria: { role: "toolbar", label: "Picture" } });
    for (const name of COLOR_MAPS) this.colorMap.append(make("option", { value: name, selected: name === this.state["colors"] }, name));
    const fix = (fixed: boolean) => { this.isFixed = fixed; this.remember(); this.map.draw(); };
    this.colorMap.addEventListener("change", () => fix(this.isFixed));
    for (const [input, name] of [[this.low, "low"], [this.high, "high"]] as const) {
      input.value = this.state[name] ?? "";
      input.addEventListener("change", () => fix(true));
    }
    this.isFixed = Boolean(this.state["low"] && this.state["high"]);
    const automatic = make("button", { type: "button" }, "range of the data");
    automatic.addEventListener("click", () => fix(false));
    if (this.plane.channels < 0) bar.append(labelled("colours", this.colorMap));
    if (!this.scene.isColor) bar.append(labelled("from", this.low), labelled("to", this.high), automatic);
    if (this.shape.length > 2) bar.append(this.axisChooser("rows"), this.axisChooser("columns"));
    else bar.append(this.turn());
    const all = make("button", { type: "button" }, "show all");
    all.addEventListener("click", () => this.map.fit());
    const grid = make("input", { type: "checkbox", checked: this.scene.grid });
    grid.addEventListener("change", () => { this.scene.grid = grid.checked; this.remember(); this.map.draw(); });
    bar.append(all, labelled("chunks", grid));
    if (this.channelAxis >= 0 && ![this.plane.rows, this.plane.columns].includes(this.channelAxis)) bar.append(this.channelSwitch());
    this.names.forEach((name, axis) => bar.append(...this.slider(name, axis)));
    this.names.forEach((name, axis) => this.lineAxis.append(make("option", { value: String(axis) }, name)));
    this.lineAxis.value = String(this.names.findIndex((_, axis) => this.isFree(axis)) >= 0 ? this.names.findIndex((_, axis) => this.isFree(axis)) : this.plane.columns);
    this.lineAxis.addEventListener("change", () => void this.drawLine());
    return bar;
  }

  private isFree(axis: number): boolean {
    return axis !== this.plane.rows && axis !== this.plane.columns && axis !== this.plane.channels;
  }

  /** Choose which axis runs down, or to the right. */
  private axisChooser(which: "rows" | "columns"): HTMLElement {
    const select = make("select");
    this.names.forEach((name, axis) => select.append(make("option", { value: String(axis), selected: axis === this.plane[which] }, name)));
    select.addEventListener("change", () => {
      const other = which === "rows" ? "columns" : "rows";
      const before = this.plane[which];
      this.plane[which] = Number(select.value);
      if (this.plane[other] === this.plane[which]) this.plane[other] = before;
      if (this.plane.channels === this.plane[which]) this.plane.channels = -1;
      this.restart();
      this.rebuild();
    });
    return labelled(which === "rows" ? "down" : "right", select);
  }

  /** Exchange rows and columns: all that can be chosen of two axes. */
  private turn(): HTMLElement {
    const button = make("button", { type: "button" }, "exchange axes");
    button.addEventListener("click", () => {
      [this.plane.rows, this.plane.columns] = [this.plane.columns, this.plane.rows];
      this.restart();
      this.rebuild();
    });
    return button;
  }

  /** Make the controls anew, for other axes. */
  private rebuild(): void {
    this.lineAxis.replaceChildren();
    this.colorMap.replaceChildren();
    this.scene.isColor = this.isColor();
    for (const name of ["zoom", "row", "column"]) delete this.state[name];
    this.show();
  }

  private channelSwitch(): HTMLElement {
    const together = make("input", { type: "checkbox", checked: this.plane.channels >= 0 });
    const axis = this.channelAxis;
    together.addEventListener("change", () => {
      this.plane.channels = together.checked ? axis : -1;
      this.restart();
      this.rebuild();
    });
    return labelled(`${this.names[axis]} as colours`, together);
  }

  private slider(name: string, axis: number): HTMLElement[] {
    const length = this.shape[axis]!;
    if (!this.isFree(axis) || length < 2) return [];
    const value = make("output", {}, String(this.plane.indices[axis]));
    const slider = make("input", { type: "range", min: "0", max: String(length - 1), value: String(this.plane.indices[axis]) });
    slider.dataset["axis"] = name;
    slider.addEventListener("input", () => {
      this.plane.indices[axis] = Number(slider.value);
      value.value = slider.value;
      this.restart();
    });
    return [labelled(name, slider), value];
  }

  private restart(): void {
    this.tiles.restart();
    this.fills.clear();
    this.remember();
    this.map.draw();
    void this.drawLine();
  }

  private remember(): void {
    const { zoom, row, column } = this.map.camera;
    const state: State = {
      rows: String(this.plane.rows), columns: String(this.plane.columns), at: this.plane.indices.join(","),
      zoom: zoom.toPrecision(8), row: row.toFixed(3), column: column.toFixed(3), colors: this.colorMap.value,
    };
    if (this.isFixed) Object.assign(state, { low: this.low.value, high: this.high.value });
    if (this.scene.grid) state["grid"] = "1";
    if (this.plane.channels < 0 && this.channelAxis >= 0) state["channels"] = "0";
    this.changed(state);
  }

  private isInside(row: number, column: number): boolean {
    return row >= 0 && column >= 0 && row < this.shape[this.plane.rows]! && column < this.shape[this.plane.columns]!;
  }

  /** Return where the elements under a place on the finest level lie. */
  private indicesAt(row: number, column: number): number[] {
    return this.shape.map((_, axis) => (axis === this.plane.rows ? row : axis === this.plane.columns ? column : this.plane.indices[axis]!));
  }

  /** Tell the values under the pointer, of the finest level that has been read. */
  private tell(row: number, column: number): void {
    this.pointed = [row, column];
    if (!this.isInside(row, column)) {
      this.status.value = "";
      return;
    }
    const indices = this.indicesAt(row, column);
    const named = this.names.map((name, axis) => `${name} ${indices[axis]}`);
    const place = named.filter((_, axis) => axis !== this.plane.channels).join(", ");
    this.status.value = `${place}: ${this.valuesAt(row, column) ?? "…"} ${this.meaning.units}`.trim();
  }

  private valuesAt(row: number, column: number): string | null {
    for (const [number, level] of this.levels.entries()) {
      const [down, right] = [level.factors[this.plane.rows]!, level.factors[this.plane.columns]!];
      const [y, x] = [Math.floor(row / down), Math.floor(column / right)];
      const tile = this.tileAt(number, y, x);
      if (!tile?.parts) continue;
      const place = (y - tile.row) * tile.width + (x - tile.column);
      return tile.parts.map((part) => short(valueOf((part.values as ArrayLike<number>)[place]!, this.meaning))).join(", ");
    }
    return null;
  }

  private tileAt(number: number, row: number, column: number) {
    const probe = this.tiles.get(this.tiles.key(number, 0, 0, this.plane));
    if (!probe) {
      return [...this.visible].map((key) => this.tiles.get(key)).find(
        (tile) => tile?.level === number && row >= tile.row && row < tile.row + tile.height && column >= tile.column && column < tile.column + tile.width,
      );
    }
    const key = this.tiles.key(number, Math.floor(row / probe.height), Math.floor(column / probe.width), this.plane);
    return this.tiles.get(key);
  }

  private visible = new Set<string>();

  private drawHistogram(visible: Set<string>): void {
    this.visible = visible;
    if (this.pointed && this.status.value.includes("…")) this.tell(...this.pointed);
    window.clearTimeout(this.later);
    this.later = window.setTimeout(() => {
      const { low, high } = this.coloring();
      const colors = this.scene.isColor || this.plane.channels >= 0 ? null : this.colorMap.value;
      const counts = countIn(this.tiles.values(visible), low, high, BINS);
      if (Number.isFinite(low)) drawHistogram(this.histogram, counts, low, high, colors);
    }, 200);
  }

  private later = 0;

  /** Read the values along an axis through the chosen place, and draw them. */
  private async drawLine(): Promise<void> {
    if (!this.chosen || !this.isInside(...this.chosen)) return;
    const axis = Number(this.lineAxis.value);
    const indices = this.indicesAt(...this.chosen);
    const selection: Selection = indices.map((index, each) => (each === axis ? [0, Math.min(this.shape[axis]!, LONGEST_LINE)] : index));
    const part = await this.reader.read(this.levels[0]!.node.path, selection);
    if (!part) return;
    drawLine(this.line, Float64Array.from(part.values as ArrayLike<number>, (stored) => valueOf(stored, this.meaning)), indices[axis]!);
  }

  /** Return how large a stored value is beside the largest; the server is asked once for each. */
  private fill(row: number, column: number, number: number): number | undefined {
    const level = this.levels[number]!;
    const array = level.node.array!;
    const indices = array.stored.map((length, axis) => {
      if (axis === this.plane.rows) return row;
      if (axis === this.plane.columns) return column;
      return axis === this.plane.channels ? 0 : Math.floor(this.plane.indices[axis]! / level.factors[axis]! / length);
    });
    const key = `${level.node.path}/${array.keyOf(indices)}`;
    if (!this.fills.has(key)) {
      this.fills.set(key, undefined);
      void this.ask(key);
    }
    const size = this.fills.get(key);
    return size === undefined ? undefined : size < 0 ? -1 : size / this.largest;
  }

  private async ask(key: string): Promise<void> {
    const answer = await fetch(this.hierarchy.urlOf(key), { method: "HEAD" });
    const size = answer.ok ? Number(answer.headers.get("content-length") ?? 0) : -1;
    this.fills.set(key, size);
    this.largest = Math.max(this.largest, size);
    this.map.draw();
  }
}
