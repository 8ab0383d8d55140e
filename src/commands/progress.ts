const EVERY_MILLISECONDS = 200;
const ERASE_LINE = '\r\x1b[K';

export interface Progress {
  /** Shows the text, now and then. */
  tell(text: () => string): void;
  end(): void;
}

/** A line on the terminal that tells how far long work is; nothing where stderr is no terminal. */
export function startProgress(): Progress {
  const { stderr } = process;
  let next = performance.now() + EVERY_MILLISECONDS;
  let isShown = false;
  return {
    tell(text) {
      if (!stderr.isTTY || performance.now() < next) return;
      next = performance.now() + EVERY_MILLISECONDS;
      isShown = true;
      stderr.write(`${ERASE_LINE}${text()}`);
    },
    end() {
      if (isShown) stderr.write(ERASE_LINE);
    },
  };
}
