// Read arrays by zarrita.js and print them as JSON: `node read_arrays.mjs FOLDER PATH ...`, for the tests.
import FileSystemStore from "@zarrita/storage/fs";
import * as zarr from "zarrita";

const [folder, ...paths] = process.argv.slice(2);
const root = zarr.root(new FileSystemStore(folder));

/** Return a value as JSON can hold it: large integers and what is not finite as text. */
function plain(value) {
  if (typeof value === "bigint") return String(value);
  if (typeof value === "number" && !Number.isFinite(value)) return String(value);
  if (value instanceof Uint8Array) return Array.from(value);
  return value;
}

/** Return elements in the order of rows: zarrita gives those of the other order as they are stored. */
function inRows({ data, shape, stride }) {
  const count = shape.reduce((product, length) => product * length, 1);
  const take = data.get ? (place) => data.get(place) : (place) => data[place];
  return Array.from({ length: count }, (_, number) => {
    let [left, place] = [number, 0];
    for (let axis = shape.length - 1; axis >= 0; axis--) {
      place += (left % shape[axis]) * stride[axis];
      left = Math.floor(left / shape[axis]);
    }
    return take(place);
  });
}

for (const path of paths) {
  let told;
  try {
    const array = await zarr.open(root.resolve(path), { kind: "array" });
    const found = await zarr.get(array);
    const data = found !== null && typeof found === "object" && "data" in found ? inRows(found) : [found];
    told = { shape: array.shape, dtype: array.dtype, values: Array.from(data, plain) };
  } catch (error) {
    told = { error: `${error.name}: ${error.message}` };
  }
  console.log(JSON.stringify({ path, ...told }));
}
