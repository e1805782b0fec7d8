/** Reads parts of arrays by zarrita, away from the thread that draws. */
import * as zarr from "zarrita";

export interface Question {
  id: number;
  url: string;
  path: string;
  /** An index, or where a range begins and ends, for each axis. */
  selection: (number | [number, number])[];
}

export type Values = Uint8Array | Int8Array | Uint16Array | Int16Array | Uint32Array | Int32Array | Float32Array | Float64Array | string[];

export type Answer = { id: number; values: Values; shape: number[] } | { id: number; error: string };

const open = new Map<string, Promise<zarr.Array<zarr.DataType, zarr.AsyncReadable>>>();

function arrayAt(url: string, path: string): Promise<zarr.Array<zarr.DataType, zarr.AsyncReadable>> {
  const key = `${url}\n${path}`;
  let found = open.get(key);
  if (!found) {
    const root = zarr.root(zarr.withRangeCoalescing(new zarr.FetchStore(url))); // chunks of a shard in few requests
    found = zarr.open(root.resolve(`/${path}`), { kind: "array" });
    found.catch(() => open.delete(key));
    open.set(key, found);
  }
  return found;
}

/** Return values in a form that a page can draw: numbers up to 64 bits, or texts. */
function plain(data: ArrayLike<unknown>): Values {
  if (data instanceof BigInt64Array || data instanceof BigUint64Array) return Float64Array.from(data, Number);
  if (data instanceof zarr.BoolArray) return Uint8Array.from(data, Number);
  if (ArrayBuffer.isView(data)) {
    const kept = [Uint8Array, Int8Array, Uint16Array, Int16Array, Uint32Array, Int32Array, Float32Array, Float64Array];
    if (kept.some((type) => data instanceof type)) return data as unknown as Values;
    return Float32Array.from(data as unknown as ArrayLike<number>); // half precision
  }
  return Array.from(data, (value) => (value === null || value === undefined ? "" : String(value)));
}

interface Found {
  data: ArrayLike<unknown>;
  shape: number[];
  stride: number[];
}

/** Return elements in the order of rows; an array of the other order is read as it is stored. */
function inRows({ data, shape, stride }: Found): ArrayLike<unknown> {
  let expected = 1;
  const isInRows = shape.map((_, axis) => axis).reverse().every((axis) => {
    const fits = shape[axis] === 1 || stride[axis] === expected;
    expected *= shape[axis]!;
    return fits;
  });
  if (isInRows) return data;
  const values = new (data.constructor as new (length: number) => { [place: number]: unknown; length: number })(data.length);
  const index = shape.map(() => 0);
  for (let place = 0; place < data.length; place++) {
    values[place] = data[index.reduce((sum, each, axis) => sum + each * stride[axis]!, 0)];
    for (let axis = shape.length - 1; axis >= 0 && ++index[axis]! === shape[axis]; axis--) index[axis] = 0;
  }
  return values as ArrayLike<unknown>;
}

async function answer(question: Question): Promise<Answer> {
  const array = await arrayAt(question.url, question.path);
  const selection = question.selection.map((each) => (typeof each === "number" ? each : zarr.slice(each[0], each[1])));
  const shape = question.selection.flatMap((each) => (typeof each === "number" ? [] : [each[1] - each[0]]));
  const found = (await zarr.get(array as zarr.Array<"float64", zarr.AsyncReadable>, selection)) as unknown;
  if (typeof found !== "object" || found === null || !("data" in found)) {
    return { id: question.id, values: plain([found]), shape };
  }
  return { id: question.id, values: plain(inRows(found as Found)), shape };
}

self.addEventListener("message", async (event: MessageEvent<Question>) => {
  let told: Answer;
  try {
    told = await answer(event.data);
  } catch (error) {
    told = { id: event.data.id, error: error instanceof Error ? error.message : String(error) };
  }
  self.postMessage(told);
});
