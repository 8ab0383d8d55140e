/** As much as uWebSockets.js reads at a time. */
const BLOCK_BYTES = 524_288;
/** 32 MiB in all: as much as the largest body has, by default. */
const MOST_SPARE = 64;

const spare: ArrayBuffer[] = [];

/**
 * Returns memory for a large part of a body, not filled with zeros: memory that another body had, if there is some. To fill memory for the first time
 * takes twenty times as long, because the system provides each page of it then.
 */
export function takeMemory(bytes: number): ArrayBuffer {
  if (bytes > BLOCK_BYTES || bytes <= BLOCK_BYTES / 2) return Buffer.allocUnsafeSlow(bytes).buffer;
  return spare.pop() ?? Buffer.allocUnsafeSlow(BLOCK_BYTES).buffer;
}

/** Keeps the memory of parts of a body that was read, for other bodies. Nothing else may refer to it. */
export function giveMemory(parts: readonly Uint8Array[]): void {
  for (const { buffer } of parts) {
    if (buffer.byteLength === BLOCK_BYTES && spare.length < MOST_SPARE) spare.push(buffer as ArrayBuffer);
  }
}
