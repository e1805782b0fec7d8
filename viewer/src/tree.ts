/** The tree of nodes; what lies below a group is asked for when the group is unfolded. */
import { bytes, make } from "./dom";
import type { Hierarchy, Node } from "./nodes";

const AT_ONCE = 500;

export function describe(node: Node): string {
  if (!node.array) return "group";
  return `${node.array.shape.join(" × ") || "scalar"} ${node.array.dataType}`;
}

/** Return how many bytes the elements of an array take in memory; NaN if that is not known. */
export function sizeOf(dataType: string, shape: number[]): number {
  const bits = /(\d+)$/.exec(dataType);
  const each = dataType === "bool" ? 1 : /^[<>|]/.test(dataType) ? Number(bits?.[1]) : Number(bits?.[1]) / 8;
  return shape.reduce((product, length) => product * length, each);
}

export class Tree {
  private readonly unfolded = new Map<string, () => Promise<void>>();

  constructor(
    private readonly hierarchy: Hierarchy,
    private readonly list: HTMLElement,
    private readonly choose: (node: Node) => void,
  ) {}

  async show(): Promise<void> {
    const root = await this.hierarchy.node("");
    if (!root) return;
    this.unfolded.clear();
    this.list.replaceChildren(this.item(root, true));
  }

  /** Unfold the groups above a node, and mark it. */
  async reveal(path: string): Promise<void> {
    const parts = path.split("/").filter(Boolean);
    for (let count = 0; count < parts.length; count++) {
      await this.unfolded.get(parts.slice(0, count).join("/"))?.();
    }
    this.mark(path);
  }

  private mark(path: string): void {
    for (const button of this.list.querySelectorAll("button.node")) {
      if ((button as HTMLElement).dataset["path"] === path) button.setAttribute("aria-current", "true");
      else button.removeAttribute("aria-current");
    }
  }

  private item(node: Node, unfolded = false): HTMLElement {
    const name = node.path.split("/").pop() || "/";
    const size = node.array ? sizeOf(node.array.dataType, node.array.shape) : NaN;
    const button = make("button", { className: "node", type: "button", title: Number.isNaN(size) ? "" : bytes(size) },
      make("span", { className: "name" }, name), " ", make("small", {}, describe(node)));
    button.dataset["path"] = node.path;
    button.addEventListener("click", () => this.choose(node));
    if (node.array) return make("li", { aria: { role: "treeitem" } }, button);
    const below = make("ul", { aria: { role: "group" } });
    const details = make("details", {}, make("summary", {}, button), below);
    let asked: Promise<void> | undefined;
    const ask = () => (asked ??= this.unfold(node, below));
    details.addEventListener("toggle", () => { if (details.open) void ask(); });
    this.unfolded.set(node.path, () => { details.open = true; return ask(); });
    button.addEventListener("click", () => (details.open = true));
    details.open = unfolded;
    return make("li", { aria: { role: "treeitem" } }, details);
  }

  private async unfold(node: Node, below: HTMLElement): Promise<void> {
    const members = this.hierarchy.members(node.path);
    const more = async (): Promise<void> => {
      for (let count = 0; count < AT_ONCE; count++) {
        const next = await members.next();
        if (next.done) return;
        below.append(this.item(next.value));
      }
      const button = make("button", { type: "button" }, "more …");
      const item = make("li", {}, button);
      button.addEventListener("click", () => { item.remove(); void more(); });
      below.append(item);
    };
    await more();
  }
}
