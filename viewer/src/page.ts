/** What is shown of a node: its documents, and of an array its values. */
import { bytes, make } from "./dom";
import { ImageView } from "./image";
import { levelsOf } from "./levels";
import type { Hierarchy, Node } from "./nodes";
import type { Reader } from "./reader";
import { showSeries } from "./series";
import type { State } from "./state";
import { showTable } from "./table";
import { describe, sizeOf } from "./tree";

const MOST_MEMBERS = 500;

/** Return whether values of a data type are numbers that can be drawn. */
export function isNumeric(dataType: string): boolean {
  return /^(u?int|float|bool)/.test(dataType) || /^[<>|][uifb]\d$/.test(dataType);
}

function documents(node: Node): HTMLElement[] {
  const text = (value: unknown) => make("pre", {}, JSON.stringify(value, null, 2));
  const found = [make("details", {}, make("summary", {}, node.format === 3 ? "zarr.json" : "metadata document"), text(node.document))];
  if (Object.keys(node.attributes).length) found.unshift(make("details", { open: !node.array }, make("summary", {}, "attributes"), text(node.attributes)));
  return found;
}

function facts(node: Node): HTMLElement {
  const list = make("dl");
  const add = (name: string, value: string) => list.append(make("dt", {}, name), make("dd", {}, value));
  add("kind", describe(node));
  add("format", String(node.format));
  if (node.array) {
    const { shape, chunks, stored, codecs, dataType, fillValue, dimensionNames } = node.array;
    const size = sizeOf(dataType, shape);
    if (!Number.isNaN(size)) add("in memory", bytes(size));
    if (dimensionNames.length) add("dimensions", dimensionNames.join(", "));
    const count = shape.reduce((product, length, axis) => product * Math.ceil(length / Math.max(1, chunks[axis]!)), 1);
    add("chunks", `${chunks.join(" × ") || "one"}${chunks.length ? `, ${count} in all` : ""}`);
    if (stored !== chunks) add("shards", stored.join(" × "));
    add("codecs", codecs.join(", ") || "none");
    add("fill value", JSON.stringify(fillValue));
  }
  return list;
}

/** Show the nodes below a group as a table; a click shows one. */
async function showMembers({ hierarchy, node, choose }: Shown, place: HTMLElement): Promise<void> {
  const body = make("tbody");
  let count = 0;
  for await (const member of hierarchy.members(node.path)) {
    if (++count > MOST_MEMBERS) break;
    const name = make("button", { type: "button", className: "node" }, member.path.split("/").pop()!);
    name.addEventListener("click", () => choose(member));
    const size = member.array ? sizeOf(member.array.dataType, member.array.shape) : NaN;
    const units = member.attributes["units"];
    const cells = [describe(member), Number.isNaN(size) ? "" : bytes(size), typeof units === "string" ? units : ""];
    body.append(make("tr", {}, make("th", { scope: "row" }, name), ...cells.map((cell) => make("td", {}, cell))));
  }
  if (!count) return;
  const head = make("tr", {}, ...["name", "kind", "in memory", "units"].map((name) => make("th", { scope: "col" }, name)));
  place.replaceChildren(make("div", { className: "scroll" }, make("table", { className: "members" }, make("thead", {}, head), body)));
}

export interface Shown {
  hierarchy: Hierarchy;
  reader: Reader;
  node: Node;
  place: HTMLElement;
  state: State;
  changed: (state: State) => void;
  choose: (node: Node) => void;
}

/** Show a node: its values, or the nodes below it, and its documents. */
export async function showNode(shown: Shown): Promise<void> {
  const { hierarchy, reader, node, place, state, changed } = shown;
  const values = make("section", { className: "values", aria: { label: "Values" } });
  place.replaceChildren(make("h2", {}, node.path || "/"), values, facts(node), ...documents(node));
  const levels = await levelsOf(hierarchy, node);
  const finest = levels[0]?.node.array;
  if (!finest) {
    await showMembers(shown, values);
    return;
  }
  const isDrawn = isNumeric(finest.dataType);
  if (finest.shape.length >= 2 && isDrawn) {
    new ImageView(hierarchy, reader, node, levels, values, state, changed).show();
    return;
  }
  const [line, table] = [make("div"), make("div")];
  values.replaceChildren(line, table);
  if (finest.shape.length === 1 && finest.shape[0]! > 1 && isDrawn) await showSeries(reader, levels[0]!.node, line).catch(() => line.remove());
  await showTable(reader, levels[0]!.node, table);
}
