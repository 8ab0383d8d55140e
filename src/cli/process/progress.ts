import { escapeControls } from '../../terminal.js';

const INTERVAL_MILLISECONDS = 200;
const ERASE_LINE = '\r\x1b[K';

export interface Progress {
  /** Shows the text, at most every 200 ms. */
  show(text: () => string): void;
  end(): void;
}

/**
 * Shows the progress of long work in one line of the terminal. Does nothing if stderr is not a terminal.
 * @param isWanted false: the work itself is written to the terminal
 */
export function startProgress(isWanted = true): Progress {
  const { stderr } = process;
  let next = performance.now() + INTERVAL_MILLISECONDS;
  let isShown = false;
  return {
    show(text) {
      if (!isWanted || !stderr.isTTY || performance.now() < next) return;
      next = performance.now() + INTERVAL_MILLISECONDS;
      isShown = true;
      // Only the last line of wrapped text could be erased.
      stderr.write(`${ERASE_LINE}${escapeControls(text()).slice(0, Math.max(1, stderr.columns - 1))}`);
    },
    end() {
      if (isShown) stderr.write(ERASE_LINE);
    },
  };
}
