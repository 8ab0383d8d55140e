import { escapeControls } from '../../terminal.js';

const INTERVAL_MILLISECONDS = 200;
const ERASE_LINE = '\r\x1b[K';

export interface Progress {
  /** Shows the text, now and then. */
  show(text: () => string): void;
  end(): void;
}

/**
 * A line on the terminal that tells how far long work is; nothing where stderr is no terminal.
 * @param isWanted not where the work itself is written to the terminal
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
      // Of what is wrapped only the last line could be erased.
      stderr.write(`${ERASE_LINE}${escapeControls(text()).slice(0, Math.max(1, stderr.columns - 1))}`);
    },
    end() {
      if (isShown) stderr.write(ERASE_LINE);
    },
  };
}
