import type { RefObject } from 'preact';
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { draw, type Picture } from './draw.js';
import type { Geometry } from './geometry.js';
import { type Palette, readPalette } from './palette.js';

/** Draws a picture, once for each frame, as sharp as the screen is. */
export function TimelineCanvas({ picture, geometry, width }: { picture: Picture; geometry: Geometry; width: number }) {
  const canvas = useRef<HTMLCanvasElement>(null);
  const palette = usePalette(canvas);
  const density = useDensity();
  useLayoutEffect(() => {
    if (!palette || width === 0) return;
    const frame = requestAnimationFrame(() => {
      const element = canvas.current!;
      const [columns, rows] = [Math.round(width * density), Math.round(geometry.height * density)];
      // To set a size clears the canvas, and takes time.
      if (element.width !== columns) element.width = columns;
      if (element.height !== rows) element.height = rows;
      const context = element.getContext('2d')!;
      context.setTransform(density, 0, 0, density, 0, 0);
      draw(context, picture, geometry, palette);
    });
    return () => cancelAnimationFrame(frame);
  });
  return <canvas ref={canvas} style={{ width: `${width}px`, height: `${geometry.height}px` }} />;
}

function usePalette(canvas: RefObject<HTMLCanvasElement | null>): Palette | null {
  const [palette, setPalette] = useState<Palette | null>(null);
  useLayoutEffect(() => {
    const read = () => setPalette(readPalette(canvas.current!.parentElement!));
    const scheme = matchMedia('(prefers-color-scheme: dark)');
    read();
    scheme.addEventListener('change', read);
    return () => scheme.removeEventListener('change', read);
  }, [canvas]);
  return palette;
}

/** Pixels of the screen for one of the page, which changes with the zoom of the browser. */
function useDensity(): number {
  const [density, setDensity] = useState(devicePixelRatio);
  useEffect(() => {
    const update = () => setDensity(devicePixelRatio);
    addEventListener('resize', update);
    return () => removeEventListener('resize', update);
  }, []);
  return density;
}
