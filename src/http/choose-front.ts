import { limits } from '../limits.js';
import type { OpenFront } from './front.js';
import { openNode } from './node/front.js';
import { openUwebsockets } from './uwebsockets/front.js';
import { loadUwebsockets } from './uwebsockets/load.js';

/** Which HTTP server is wanted; auto: uWebSockets.js where it has a binary. */
export type FrontName = 'auto' | 'uwebsockets' | 'node';

export interface ChosenFront {
  name: Exclude<FrontName, 'auto'>;
  open: OpenFront;
  /** A sentence: which one it is, and why. */
  why: string;
}

/** Rejects with a sentence when uWebSockets.js is wanted and has no binary for this machine. */
export async function chooseFront(wanted: FrontName): Promise<ChosenFront> {
  const asTold = 'as BALLAST_HTTP_SERVER says';
  if (wanted === 'node') return { name: 'node', open: openNode(limits), why: `HTTP is served by node:http, ${asTold}` };
  try {
    const { uws, from } = await loadUwebsockets();
    const why = `HTTP is served by uWebSockets.js, ${wanted === 'auto' ? `of which the package ${from} has a binary for this machine` : `${asTold} (package ${from})`}`;
    return { name: 'uwebsockets', open: openUwebsockets(uws), why };
  } catch (error) {
    const lack = `no package of uWebSockets.js has a binary that loads with Node ${process.version} on ${process.platform}-${process.arch} (${(error as Error).message})`;
    if (wanted === 'uwebsockets') throw new Error(`cannot listen with uWebSockets.js: ${lack}; set BALLAST_HTTP_SERVER to auto, or see src/docs/platforms.md`, { cause: error });
    return { name: 'node', open: openNode(limits), why: `HTTP is served by node:http, which takes more processor time: ${lack}; see src/docs/platforms.md` };
  }
}
