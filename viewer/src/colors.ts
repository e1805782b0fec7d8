/** Colour maps: tables of 256 colours, by interpolation between a few. */

const ANCHORS: Record<string, string> = {
  viridis: "440154 482878 3e4989 31688e 26828e 1f9e89 35b779 6ece58 b5de2b fde725",
  magma: "000004 180f3d 440f76 721f81 9e2f7f cd4071 f1605d fd9668 feca8d fcfdbf",
  gray: "000000 ffffff",
  "blue to red": "2166ac 92c5de f7f7f7 f4a582 b2182b",
  terrain: "08306b 4292c6 c6dbef d9f0a3 78c679 ad8a4e 7f5539 ffffff",
};

export const COLOR_MAPS = Object.keys(ANCHORS);
export const CHANNEL_COLORS: [number, number, number][] = [
  [255, 0, 0],
  [0, 255, 0],
  [0, 0, 255],
  [255, 255, 255],
  [255, 255, 0],
  [255, 0, 255],
];

const tables = new Map<string, Uint8ClampedArray>();

/** Return red, green and blue of 256 steps. */
export function colorTable(name: string): Uint8ClampedArray {
  let table = tables.get(name);
  if (!table) {
    const anchors = (ANCHORS[name] ?? ANCHORS["viridis"]!).split(" ").map((text) => parseInt(text, 16));
    table = new Uint8ClampedArray(256 * 3);
    for (let step = 0; step < 256; step++) {
      const place = (step / 255) * (anchors.length - 1);
      const left = Math.min(Math.floor(place), anchors.length - 2);
      const [from, to] = [anchors[left]!, anchors[left + 1]!];
      for (let part = 0; part < 3; part++) {
        const shift = 16 - 8 * part;
        const [a, b] = [(from >> shift) & 255, (to >> shift) & 255];
        table[step * 3 + part] = Math.round(a + (b - a) * (place - left));
      }
    }
    tables.set(name, table);
  }
  return table;
}

/** Return the step of a value between two limits. */
export function stepOf(value: number, low: number, high: number): number {
  if (high <= low) return 0;
  return Math.max(0, Math.min(255, Math.floor(((value - low) / (high - low)) * 256)));
}
