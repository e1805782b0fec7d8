/** Make elements of the page. */

type Child = Node | string;
type Properties<K extends keyof HTMLElementTagNameMap> = Partial<Omit<HTMLElementTagNameMap[K], "style">> & { aria?: Record<string, string> };

export function make<K extends keyof HTMLElementTagNameMap>(
  tag: K, properties: Properties<K> = {}, ...children: Child[]
): HTMLElementTagNameMap[K] {
  const element = document.createElement(tag);
  const { aria, ...rest } = properties;
  Object.assign(element, rest);
  for (const [name, value] of Object.entries(aria ?? {})) element.setAttribute(name === "role" ? name : `aria-${name}`, value);
  element.append(...children);
  return element;
}

export function labelled(text: string, control: HTMLElement): HTMLLabelElement {
  return make("label", {}, text, " ", control);
}

/** Return a number as text that is short and exact enough to tell it from its neighbours. */
export function short(value: number): string {
  if (Number.isNaN(value)) return "missing";
  if (Number.isInteger(value)) return String(value);
  return String(Number(value.toPrecision(6)));
}

export function bytes(count: number): string {
  let [size, unit] = [count, 0];
  while (size >= 1024 && unit < 4) [size, unit] = [size / 1024, unit + 1];
  return `${unit ? size.toFixed(1) : size} ${["B", "KiB", "MiB", "GiB", "TiB"][unit]}`;
}
