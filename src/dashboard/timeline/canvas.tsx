import type { RefObject } from 'preact';
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { type Surface, useSurface } from '../parts/charts/surface.js';
import { draw, type Picture } from './draw.js';
import type { Geometry } from './geometry.js';
import { type Palette, readPalette } from './palette.js';

/** Draws a picture, once for each frame, as sharp as the screen is. */
export function TimelineCanvas({ picture, geometry, width }: { picture: Picture; geometry: Geometry; width: number }) {
  const canvas = useRef<HTMLCanvasElement>(null);
  const surface = useSurface();
  const palette = usePalette(canvas, surface);
  const density = useDensity();
  useLayoutEffect(() => {
    if (!palette || width === 0) return;
    const paint = () => {
      const element = canvas.current!;
      const [columns, rows] = [Math.round(width * density), Math.round(geometry.height * density)];
      // To set a size clears the canvas, and takes time.
      if (element.width !== columns) element.width = columns;
      if (element.height !== rows) element.height = rows;
      const context = element.getContext('2d')!;
      context.setTransform(density, 0, 0, density, 0, 0);
      draw({ context, picture, geometry, palette });
    };
    if (surface === 'paper') return paint();
    const frame = requestAnimationFrame(paint);
    return () => cancelAnimationFrame(frame);
  });
  return <canvas ref={canvas} style={{ width: `${width}px`, height: `${geometry.height}px` }} />;
}

function usePalette(canvas: RefObject<HTMLCanvasElement | null>, surface: Surface): Palette | null {
  const [palette, setPalette] = useState<Palette | null>(null);
  useLayoutEffect(() => setPalette(readPalette(canvas.current!.parentElement!, surface)), [canvas, surface]);
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
