const NAMES = ['ground', 'text', 'quiet', 'edge', 'work', 'over', 'failed', 'idle', 'late', 'focus'] as const;

/** The colours of tokens.css as a canvas takes them. */
export type Palette = Record<(typeof NAMES)[number], string> & { font: string };

/** Reads the colours that hold for an element now, in the light or the dark scheme. */
export function readPalette(element: HTMLElement): Palette {
  const probe = element.appendChild(document.createElement('span'));
  const style = getComputedStyle(probe);
  const colours = NAMES.map(name => {
    probe.style.color = `var(--${name})`;
    return [name, style.color];
  });
  const palette = { ...Object.fromEntries(colours), font: style.fontFamily } as Palette;
  probe.remove();
  return palette;
}
