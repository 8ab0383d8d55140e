import { limits } from '../limits.js';
import type { OpenFront } from './front.js';
import { openNode } from './node/front.js';
import { openUwebsockets } from './uwebsockets/front.js';
import { loadUwebsockets } from './uwebsockets/load.js';

/** The setting. auto: uWebSockets.js where it has a binary, else node:http. */
export type FrontName = 'auto' | 'uwebsockets' | 'node';

export interface ChosenFront {
  name: Exclude<FrontName, 'auto'>;
  open: OpenFront;
  /** A line for the log: which server it is, and why. */
  why: string;
}

/** Rejects with a sentence when uWebSockets.js is configured and no package has a binary that loads here. */
export async function chooseFront(wanted: FrontName): Promise<ChosenFront> {
  if (wanted === 'node') return { name: 'node', open: openNode(limits), why: 'HTTP server: node:http, as configured' };
  try {
    const { uws, from } = await loadUwebsockets();
    const why = `HTTP server: uWebSockets.js of the package ${from}, ${wanted === 'auto' ? 'which has a binary for this machine' : 'as configured'}`;
    return { name: 'uwebsockets', open: openUwebsockets(uws), why };
  } catch (error) {
    const lack = `no package of uWebSockets.js loads with Node ${process.versions.node} on ${process.platform}-${process.arch} (${(error as Error).message})`;
    if (wanted === 'uwebsockets') throw new Error(`cannot serve HTTP with uWebSockets.js: ${lack}; set BALLAST_HTTP_SERVER to auto or node, or see src/docs/platforms.md`, { cause: error });
    return { name: 'node', open: openNode(limits), why: `HTTP server: node:http, which takes more processor time, because ${lack}; see src/docs/platforms.md` };
  }
}
