/** Nodes of a hierarchy: their documents, and what lies below them. */

export type Json = null | boolean | number | string | Json[] | { [name: string]: Json };
export type Document = { [name: string]: Json };

export interface ArrayDescription {
  shape: number[];
  /** The shape of what is stored, and read, as one: inner chunks if there are shards. */
  chunks: number[];
  /** The shape of a stored value: that of the shards, or of the chunks. */
  stored: number[];
  dataType: string;
  fillValue: Json;
  dimensionNames: string[];
  codecs: string[];
  /** The key of a stored value, relative to the array. */
  keyOf(indices: number[]): string;
}

export interface Node {
  path: string;
  format: 2 | 3;
  document: Document;
  attributes: Document;
  array: ArrayDescription | null;
}

export interface Listing {
  folders: string[];
  /** Documents of nodes below, from a consolidated copy; null where there is none. */
  known: Map<string, Node> | null;
}

/** The hierarchy at a URL. */
export class Hierarchy {
  private readonly nodes = new Map<string, Promise<Node | null>>();

  constructor(readonly url: string) {}

  urlOf(path: string): string {
    const encoded = path.split("/").filter(Boolean).map(encodeURIComponent).join("/");
    return encoded ? `${this.url}/${encoded}` : this.url;
  }

  /** Return the node at a path; null where there is none. */
  node(path: string): Promise<Node | null> {
    let found = this.nodes.get(path);
    if (!found) {
      found = this.read(path);
      this.nodes.set(path, found);
    }
    return found;
  }

  /** Return the nodes directly below a group, in the order of their names. */
  async *members(path: string): AsyncGenerator<Node> {
    const names = await this.namesBelow(path);
    const width = 16;
    for (let start = 0; start < names.length; start += width) {
      const some = names.slice(start, start + width).map((name) => this.node(path ? `${path}/${name}` : name));
      for (const node of await Promise.all(some)) if (node) yield node;
    }
  }

  private async namesBelow(path: string): Promise<string[]> {
    const answer = await fetch(`${this.urlOf(path)}/`, { headers: { Accept: "application/json" } });
    if (answer.ok && answer.headers.get("content-type")?.includes("json")) {
      const listing = (await answer.json()) as { folders: string[] };
      return listing.folders.map((name) => name.replace(/\/$/, "")).sort();
    }
    return this.consolidatedNames(path);
  }

  /** Return names from the consolidated metadata of the root: a server need not list folders. */
  private async consolidatedNames(path: string): Promise<string[]> {
    const root = await this.node("");
    const copy = root?.document["consolidated_metadata"] as { metadata?: Document } | null | undefined;
    const prefix = path ? `${path}/` : "";
    const below = Object.keys(copy?.metadata ?? {}).filter((name) => name.startsWith(prefix));
    const names = below.map((name) => name.slice(prefix.length)).filter((name) => name && !name.includes("/"));
    return [...new Set(names)].sort();
  }

  private async document(path: string, name: string): Promise<Document | null> {
    const answer = await fetch(`${this.urlOf(path)}/${name}`);
    return answer.ok ? ((await answer.json()) as Document) : null;
  }

  private async read(path: string): Promise<Node | null> {
    const document = await this.document(path, "zarr.json");
    if (document) {
      const attributes = (document["attributes"] ?? {}) as Document;
      const array = document["node_type"] === "array" ? describe3(document) : null;
      return { path, format: 3, document, attributes, array };
    }
    const older = (await this.document(path, ".zarray")) ?? (await this.document(path, ".zgroup"));
    if (!older) return null;
    const attributes = (await this.document(path, ".zattrs")) ?? {};
    const array = "shape" in older ? describe2(older, attributes) : null;
    return { path, format: 2, document: older, attributes, array };
  }
}

interface Named {
  name: string;
  configuration?: Document;
}

/** Return the name of an extension, which a document may write as text alone. */
function named(value: Json | undefined): Named {
  return typeof value === "string" ? { name: value } : (value as unknown as Named);
}

function namesOf(names: Json | undefined, count: number): string[] {
  const given = Array.isArray(names) ? names : [];
  return Array.from({ length: count }, (_, axis) => (typeof given[axis] === "string" ? given[axis] : `axis ${axis}`));
}

function describe3(document: Document): ArrayDescription {
  const shape = document["shape"] as number[];
  const grid = named(document["chunk_grid"]);
  const stored = (grid.configuration?.["chunk_shape"] as number[] | undefined) ?? shape;
  const codecs = (document["codecs"] as Json[]).map(named);
  const sharding = codecs.find((codec) => codec.name === "sharding_indexed");
  const inner = (sharding?.configuration?.["codecs"] as Json[] | undefined)?.map(named) ?? [];
  const encoding = named(document["chunk_key_encoding"]);
  const v2 = encoding.name === "v2";
  const separator = (encoding.configuration?.["separator"] as string | undefined) ?? (v2 ? "." : "/");
  const dataType = named(document["data_type"]);
  return {
    shape,
    stored,
    chunks: (sharding?.configuration?.["chunk_shape"] as number[] | undefined) ?? stored,
    dataType: dataType.name,
    fillValue: document["fill_value"] ?? null,
    dimensionNames: namesOf(document["dimension_names"], shape.length),
    codecs: [...codecs, ...inner].map((codec) => codec.name),
    keyOf: (indices) => (v2 ? indices.join(separator) || "0" : ["c", ...indices].join(separator)),
  };
}

function describe2(document: Document, attributes: Document): ArrayDescription {
  const shape = document["shape"] as number[];
  const chunks = document["chunks"] as number[];
  const separator = (document["dimension_separator"] as string | undefined) ?? ".";
  const filters = (document["filters"] as Document[] | null) ?? [];
  const compressor = document["compressor"] as Document | null;
  const dataType = document["dtype"];
  return {
    shape,
    chunks,
    stored: chunks,
    dataType: typeof dataType === "string" ? dataType : JSON.stringify(dataType),
    fillValue: document["fill_value"] ?? null,
    dimensionNames: namesOf(attributes["_ARRAY_DIMENSIONS"], shape.length),
    codecs: [...filters, ...(compressor ? [compressor] : [])].map((codec) => String(codec["id"])),
    keyOf: (indices) => indices.join(separator) || "0",
  };
}
