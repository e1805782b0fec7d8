/** The picture of an array of one dimension: a line, with the value under the pointer. */
import { make, short } from "./dom";
import { meaningOf, valueOf } from "./levels";
import type { Node } from "./nodes";
import { drawLine, type LineScale } from "./panels";
import type { Reader } from "./reader";

const LONGEST = 1_000_000;

/** Draw the elements of an array of numbers as a line; arrow keys and the pointer choose one, which is told below. */
export async function showSeries(reader: Reader, node: Node, place: HTMLElement): Promise<void> {
  const array = node.array!;
  const canvas = make("canvas", { className: "series", tabIndex: 0, aria: { role: "img", label: "Values as a line; arrows choose one" } });
  const status = make("output", { className: "status", aria: { label: "Value under the pointer" } });
  place.replaceChildren(canvas, status);
  const part = await reader.read(node.path, [[0, Math.min(LONGEST, array.shape[0]!)]]);
  if (!part) return;
  const meaning = meaningOf(node);
  const values = Float64Array.from(part.values as ArrayLike<number>, (stored) => valueOf(stored, meaning));
  let chosen = -1;
  let scale: LineScale;
  const tell = (wanted: number) => {
    chosen = Math.max(0, Math.min(values.length - 1, wanted));
    status.value = `${array.dimensionNames[0]} ${chosen}: ${short(values[chosen]!)} ${meaning.units}`.trim();
    scale = drawLine(canvas, values, chosen);
  };
  if (values.length < array.shape[0]!) status.value = `the first ${values.length} of ${array.shape[0]}`;
  new ResizeObserver(() => { scale = drawLine(canvas, values, chosen); }).observe(canvas);
  canvas.addEventListener("pointermove", (event) => tell(scale.placeAt(event.offsetX)));
  canvas.addEventListener("keydown", (event) => {
    if (event.key !== "ArrowLeft" && event.key !== "ArrowRight") return;
    event.preventDefault();
    tell(chosen + (event.key === "ArrowRight" ? 1 : -1));
  });
}
