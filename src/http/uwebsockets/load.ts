type Uwebsockets = typeof import('uWebSockets.js');

/** The library, from the first package that has a binary for this machine. Rejects with why none has. @param headBytes limit of a request's head */
export async function loadUwebsockets(headBytes: number): Promise<Uwebsockets> {
  // Read by the library when it is loaded.
  process.env['UWS_HTTP_MAX_HEADERS_SIZE'] ??= String(headBytes);
  return import('uWebSockets.js');
}
