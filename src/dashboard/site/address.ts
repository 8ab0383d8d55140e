/** Stand in for `location` and `history`. The address of a page stands behind the #, as no server answers to its path. */

const shown = () => new URL(globalThis.location.hash.slice(1) || '/', 'http://ballast');

export const location = {
  get pathname() {
    return shown().pathname;
  },
  get search() {
    return shown().search;
  },
  get hash() {
    return shown().hash;
  },
  get origin() {
    return globalThis.location.origin;
  },
  /** For other people: the address of the document. */
  get href() {
    return globalThis.location.href;
  },
};

export const history = {
  get state(): unknown {
    return globalThis.history.state;
  },
  set scrollRestoration(value: ScrollRestoration) {
    globalThis.history.scrollRestoration = value;
  },
  pushState(state: unknown, _: string, to: string) {
    globalThis.history.pushState(state, '', `#${to}`);
  },
  replaceState(state: unknown, _: string, to?: string) {
    globalThis.history.replaceState(state, '', to === undefined ? null : `#${to}`);
  },
};
