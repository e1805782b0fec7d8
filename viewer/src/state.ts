/** What the address of the page says: the node, the plane, the place and the colours. */

export type State = Record<string, string>;

export function readState(): State {
  return Object.fromEntries(new URLSearchParams(location.hash.slice(1)));
}

/** Write the state into the address without a step in the history. */
export function writeState(state: State): void {
  history.replaceState(null, "", `#${new URLSearchParams(state)}`);
}
