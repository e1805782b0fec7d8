/** The page: the tree on the left, the chosen node on the right; its address says what is shown. */
import "./style.css";
import { Hierarchy, type Node } from "./nodes";
import { showNode } from "./page";
import { Reader } from "./reader";
import { readState, type State, writeState } from "./state";
import { Tree } from "./tree";

const parameters = new URLSearchParams(location.search);
const url = new URL(parameters.get("data") ?? "../data", location.href).href.replace(/\/$/, "");
const hierarchy = new Hierarchy(url);
const reader = new Reader(url);
const page = document.getElementById("page")!;

async function show(node: Node, state: State): Promise<void> {
  document.title = `${node.path || "/"} – zarr view`;
  void tree.reveal(node.path);
  const remember = (view: State) => writeState({ node: node.path, ...view });
  remember(state);
  await showNode({ hierarchy, reader, node, place: page, state, changed: remember, choose: (other) => void show(other, {}) });
}

const tree = new Tree(hierarchy, document.getElementById("tree")!, (node) => void show(node, {}));

async function start(): Promise<void> {
  (document.getElementById("place") as HTMLOutputElement).value = url;
  const { node: path, ...state } = readState();
  const [node] = await Promise.all([hierarchy.node(path ?? ""), tree.show()]);
  if (node) await show(node, state);
  else page.textContent = `There is no array and no group at ${hierarchy.urlOf(path ?? "")}.`;
}

window.addEventListener("hashchange", () => void start());
start().catch((error: unknown) => {
  page.textContent = `The data cannot be read: ${error instanceof Error ? error.message : String(error)}`;
});
