/** As much as uWebSockets.js reads at a time. */
const BLOCK_BYTES = 524_288;

const spare: ArrayBuffer[] = [];

/**
 * Returns memory for a large part of a body, not filled with zeros: memory that another body had, if there is some. To fill memory for the first time
 * takes twenty times as long, because the system provides each page of it then.
 */
export function takeMemory(bytes: number): ArrayBuffer {
  if (bytes > BLOCK_BYTES || bytes <= BLOCK_BYTES / 2) return Buffer.allocUnsafeSlow(bytes).buffer;
  return spare.pop() ?? Buffer.allocUnsafeSlow(BLOCK_BYTES).buffer;
}

/**
 * Keeps the memory of parts of a body that was read, for other bodies. Nothing else may refer to it.
 * @param most the bytes that are kept in all
 */
export function giveMemory(parts: readonly Uint8Array[], most: number): void {
  for (const { buffer } of parts) {
    if (buffer.byteLength === BLOCK_BYTES && (spare.length + 1) * BLOCK_BYTES <= most) spare.push(buffer as ArrayBuffer);
  }
}
