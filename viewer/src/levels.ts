/** The levels of an image: one array, or the resolutions of a pyramid, finest first. */
import type { Document, Hierarchy, Json, Node } from "./nodes";

export interface Level {
  node: Node;
  /** How many elements of the finest level one element stands for, along each axis. */
  factors: number[];
}

/** Return the paths of the levels that the metadata of a pyramid names: OME-Zarr 0.4 and 0.5, or GeoZarr. */
export function levelPaths(attributes: Document): string[] {
  const ome = (attributes["ome"] ?? attributes) as Document;
  const multiscales = ome["multiscales"] ?? attributes["multiscales"];
  if (Array.isArray(multiscales)) {
    const datasets = ((multiscales[0] as Document | undefined)?.["datasets"] ?? []) as Document[];
    return datasets.map((each) => String(each["path"]));
  }
  const layout = (multiscales as Document | undefined)?.["layout"];
  if (Array.isArray(layout)) return (layout as Document[]).map((each) => String(each["asset"] ?? each["path"]));
  return [];
}

/** Return the levels of a group that is a pyramid, or of an array; none if it is neither. */
export async function levelsOf(hierarchy: Hierarchy, node: Node): Promise<Level[]> {
  if (node.array) return [{ node, factors: node.array.shape.map(() => 1) }];
  const prefix = node.path ? `${node.path}/` : "";
  const nodes = await Promise.all(levelPaths(node.attributes).map((path) => hierarchy.node(prefix + path)));
  const arrays = nodes.filter((each): each is Node => Boolean(each?.array));
  const finest = arrays[0]?.array;
  if (!finest) return [];
  return arrays
    .filter((each) => each.array!.shape.length === finest.shape.length)
    .map((each) => ({
      node: each,
      factors: finest.shape.map((length, axis) => Math.round(length / Math.max(1, each.array!.shape[axis]!)) || 1),
    }));
}

/** Return the names of the axes of a pyramid, or of an array. */
export function axisNames(node: Node, finest: Node): string[] {
  const ome = (node.attributes["ome"] ?? node.attributes) as Document;
  const multiscales = ome["multiscales"];
  const axes = Array.isArray(multiscales) ? ((multiscales[0] as Document)["axes"] as Json[] | undefined) : undefined;
  if (axes?.length === finest.array!.shape.length) {
    return axes.map((axis) => (typeof axis === "string" ? axis : String((axis as Document)["name"])));
  }
  return finest.array!.dimensionNames;
}

/** How stored numbers become values, by the conventions of CF. */
export interface Meaning {
  scale: number;
  offset: number;
  missing: number[];
  units: string;
}

export function meaningOf(node: Node): Meaning {
  const number = (name: string, otherwise: number): number => {
    const value = node.attributes[name];
    return typeof value === "number" ? value : otherwise;
  };
  const missing = ["_FillValue", "missing_value"].map((name) => number(name, NaN)).filter((value) => !Number.isNaN(value));
  const units = node.attributes["units"];
  return { scale: number("scale_factor", 1), offset: number("add_offset", 0), missing, units: typeof units === "string" ? units : "" };
}

/** Return the value of a stored number; NaN where it is missing. */
export function valueOf(stored: number, meaning: Meaning): number {
  return meaning.missing.includes(stored) ? NaN : stored * meaning.scale + meaning.offset;
}
