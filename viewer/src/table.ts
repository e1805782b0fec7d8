/** Values as a table: texts, and arrays of one dimension. */
import { make, short } from "./dom";
import type { Node } from "./nodes";
import type { Part, Reader, Selection } from "./reader";

const ROWS = 1000;
const COLUMNS = 20;

/** Show the first rows and columns of the last two axes; index 0 along all others. */
export async function showTable(reader: Reader, node: Node, place: HTMLElement): Promise<void> {
  const { shape, dimensionNames } = node.array!;
  const last = shape.length - 1;
  const selection: Selection = shape.map((length, axis) => {
    if (shape.length > 1 && axis === last) return [0, Math.min(length, COLUMNS)];
    if (axis === Math.max(0, last - 1) || shape.length === 1) return [0, Math.min(length, ROWS)];
    return 0;
  });
  let part: Part | null;
  try {
    part = await reader.read(node.path, selection);
  } catch (error) {
    if (await showServerTable(node, place)) return;
    place.replaceChildren(make("p", { className: "error" }, `These values cannot be shown: ${String((error as Error).message)}`));
    return;
  }
  const columns = shape.length > 1 ? part!.shape[part!.shape.length - 1]! : 1;
  const rows = Math.ceil(part!.values.length / Math.max(1, columns));
  const cells = part!.values as ArrayLike<number | string>;
  const body = make("tbody");
  for (let row = 0; row < rows; row++) {
    const line = make("tr", {}, make("th", { scope: "row" }, String(row)));
    for (let column = 0; column < columns; column++) {
      const value = cells[row * columns + column]!;
      line.append(make("td", {}, typeof value === "number" ? short(value) : value));
    }
    body.append(line);
  }
  const length = shape[Math.max(0, last - 1)] ?? 1;
  const names = dimensionNames.join(", ");
  const caption = !names ? "one value" : rows < length ? `${names}: the first ${rows} of ${length}` : `${names}: ${length}`;
  place.replaceChildren(make("div", { className: "scroll" }, make("table", {}, make("caption", {}, caption), body)));
}

/** Show values that zarrita has no type for, such as dates and structures: the server of the page tells them as text. */
async function showServerTable(node: Node, place: HTMLElement): Promise<boolean> {
  const path = node.path.split("/").map(encodeURIComponent).join("/");
  const answer = await fetch(new URL(`../values/${path}?rows=${ROWS}`, location.href));
  if (!answer.ok) return false;
  const { header, rows } = (await answer.json()) as { header: string[]; rows: string[][] };
  const body = make("tbody", {}, ...rows.map((cells, row) => (
    make("tr", {}, make("th", { scope: "row" }, String(row)), ...cells.map((cell) => make("td", {}, cell)))
  )));
  const head = make("thead", {}, make("tr", {}, make("th"), ...header.map((name) => make("th", { scope: "col" }, name))));
  place.replaceChildren(make("div", { className: "scroll" }, make("table", {}, head, body)));
  return true;
}
