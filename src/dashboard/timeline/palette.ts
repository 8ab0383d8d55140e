import { readColours, type Surface } from '../parts/charts/surface.js';

const NAMES = ['ground', 'text', 'quiet', 'edge', 'work', 'over', 'failed', 'idle', 'late', 'focus'] as const;

/** The colours and the font of the page as a canvas takes them. */
export type Palette = Record<(typeof NAMES)[number], string> & { font: string };

export function readPalette(element: HTMLElement, surface: Surface): Palette {
  return { ...readColours(element, NAMES, surface), font: getComputedStyle(element).fontFamily };
}
