import type { RefObject } from 'preact';
import { useLayoutEffect, useRef, useState } from 'preact/hooks';

/** The width of an element in pixels, now and after each change; 0 before it is known. */
export function useWidth<Shown extends HTMLElement>(): [RefObject<Shown | null>, number] {
  const element = useRef<Shown>(null);
  const [width, setWidth] = useState(0);
  useLayoutEffect(() => {
    const shown = element.current!;
    const update = () => setWidth(Math.floor(shown.clientWidth));
    update();
    const observer = new ResizeObserver(update);
    observer.observe(shown);
    return () => observer.disconnect();
  }, []);
  return [element, width];
}
