/** Small pictures beside the map, and the picture of an array of one dimension: histograms and lines with axes. */
import { colorTable } from "./colors";
import { short } from "./dom";

const MARGIN = { left: 64, right: 10, top: 8, bottom: 22 };

interface Surface {
  context: CanvasRenderingContext2D;
  width: number;
  height: number;
}

/** Return the context of a canvas in pixels of the page, sharp on every screen. */
function surface(canvas: HTMLCanvasElement): Surface {
  const ratio = window.devicePixelRatio || 1;
  const [width, height] = [canvas.clientWidth || 360, canvas.clientHeight || 120];
  Object.assign(canvas, { width: Math.round(width * ratio), height: Math.round(height * ratio) });
  const context = canvas.getContext("2d")!;
  context.scale(ratio, ratio);
  context.fillStyle = context.strokeStyle = getComputedStyle(canvas).color;
  context.font = "11px system-ui, sans-serif";
  return { context, width, height };
}

/** Return how many values lie in each of some parts of a range of equal width. */
export function countIn(values: Iterable<number>, low: number, high: number, parts: number): number[] {
  const counts = new Array<number>(parts).fill(0);
  for (const value of values) {
    if (!(value >= low && value <= high)) continue;
    counts[Math.min(parts - 1, Math.floor(((value - low) / (high - low || 1)) * parts))]!++;
  }
  return counts;
}

/** Return some round numbers between two limits. */
export function ticks(low: number, high: number, most: number): number[] {
  if (!(high > low)) return [low];
  const rough = (high - low) / most;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = power * [1, 2, 5, 10].find((factor) => factor * power >= rough)!;
  const first = Math.ceil(low / step);
  return Array.from({ length: Math.floor(high / step) - first + 1 }, (_, number) => Number(((first + number) * step).toPrecision(12)));
}

/** Draw how often values occur, each part in the colour that its values have; what it spans stands below. */
export function drawHistogram(canvas: HTMLCanvasElement, counts: number[], low: number, high: number, colors: string | null): void {
  const { context, width, height } = surface(canvas);
  const floor = height - MARGIN.bottom;
  const most = Math.max(1, ...counts);
  const each = width / counts.length;
  const table = colors ? colorTable(colors) : null;
  const text = context.fillStyle;
  counts.forEach((count, part) => {
    const tall = count ? Math.max(1, (count / most) * (floor - MARGIN.top)) : 0;
    const step = Math.round((part / Math.max(1, counts.length - 1)) * 255) * 3;
    if (table) context.fillStyle = `rgb(${table[step]}, ${table[step + 1]}, ${table[step + 2]})`;
    context.fillRect(part * each, floor - tall, Math.max(1, each - 1), tall);
    if (table) context.fillRect(part * each, floor + 1, each + 1, 4);
  });
  context.fillStyle = text;
  context.fillText(short(low), 0, height - 4);
  context.textAlign = "right";
  context.fillText(short(high), width, height - 4);
}

/** Where the elements and values of a line lie on a canvas. */
export class LineScale {
  readonly low: number;
  readonly high: number;

  constructor(readonly count: number, values: ArrayLike<number>, readonly width: number, readonly height: number) {
    let [low, high] = [Infinity, -Infinity];
    for (let place = 0; place < values.length; place++) {
      const value = values[place]!;
      if (value < low && value !== -Infinity) low = value;
      if (value > high && value !== Infinity) high = value;
    }
    [this.low, this.high] = low <= high ? [low, high] : [0, 1];
  }

  x(place: number): number {
    const inside = this.width - MARGIN.left - MARGIN.right;
    return MARGIN.left + (this.count > 1 ? (place / (this.count - 1)) * inside : inside / 2);
  }

  y(value: number): number {
    const inside = this.height - MARGIN.top - MARGIN.bottom;
    return this.height - MARGIN.bottom - ((value - this.low) / (this.high - this.low || 1)) * inside;
  }

  /** Return the element under a place on the canvas. */
  placeAt(x: number): number {
    const inside = this.width - MARGIN.left - MARGIN.right;
    return Math.max(0, Math.min(this.count - 1, Math.round(((x - MARGIN.left) / inside) * (this.count - 1))));
  }
}

function drawAxes(context: CanvasRenderingContext2D, scale: LineScale): void {
  context.globalAlpha = 0.75;
  context.textAlign = "right";
  for (const value of ticks(scale.low, scale.high, Math.max(2, scale.height / 45))) {
    context.fillText(short(value), MARGIN.left - 6, scale.y(value) + 4);
    context.globalAlpha = 0.15;
    context.fillRect(MARGIN.left, Math.round(scale.y(value)), scale.width - MARGIN.left - MARGIN.right, 1);
    context.globalAlpha = 0.75;
  }
  context.textAlign = "center";
  for (const place of ticks(0, scale.count - 1, Math.max(2, scale.width / 110))) {
    if (Number.isInteger(place)) context.fillText(short(place), scale.x(place), scale.height - 6);
  }
  context.globalAlpha = 1;
}

/** Draw values as a line with axes, and mark one element. Missing values are gaps. */
export function drawLine(canvas: HTMLCanvasElement, values: ArrayLike<number>, chosen: number): LineScale {
  const { context, width, height } = surface(canvas);
  const scale = new LineScale(values.length, values, width, height);
  drawAxes(context, scale);
  context.strokeStyle = getComputedStyle(canvas).accentColor;
  context.lineWidth = 1.3;
  context.beginPath();
  let drawing = false;
  for (let place = 0; place < values.length; place++) {
    const value = values[place]!;
    if (!Number.isFinite(value)) drawing = false;
    else if (drawing) context.lineTo(scale.x(place), scale.y(value));
    else {
      context.moveTo(scale.x(place), scale.y(value));
      context.lineTo(scale.x(place) + 0.5, scale.y(value)); // a value between gaps is a dot
      drawing = true;
    }
  }
  context.stroke();
  if (chosen >= 0) {
    context.globalAlpha = 0.5;
    context.fillRect(scale.x(chosen), MARGIN.top, 1, height - MARGIN.top - MARGIN.bottom);
  }
  return scale;
}
