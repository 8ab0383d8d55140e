import { useEffect, useLayoutEffect, useRef } from 'preact/hooks';
import uPlot from 'uplot';
import { readColours, useSurface } from './surface.js';
import { useWidth } from './width.js';

const NAMES = ['work', 'over', 'failed', 'idle', 'text', 'quiet', 'line', 'ground'] as const;
/** Colours of the style sheet as a canvas takes them. */
export type Colours = Record<(typeof NAMES)[number], string>;

interface Props {
  /** Description of the drawing for readers who do not see it. The page has the same data as a table. */
  label: string;
  height: number;
  data: uPlot.AlignedData;
  options: (colours: Colours) => Omit<uPlot.Options, 'width' | 'height'>;
  /** The index of the value under the pointer, and null when it leaves. */
  onPoint?: (index: number | null) => void;
  onClick?: (index: number) => void;
}

/** A chart by uPlot that follows the width of the page and the colour scheme. */
export function Plot({ label, height, data, options, onPoint, onClick }: Props) {
  const [box, width] = useWidth<HTMLDivElement>();
  const chart = useRef<uPlot | null>(null);
  const latest = useRef({ onPoint, onClick });
  latest.current = { onPoint, onClick };
  const surface = useSurface();
  const isKnown = width > 0;

  useLayoutEffect(() => {
    const shown = box.current;
    if (!isKnown || !shown) return;
    const made = options(readColours(shown, NAMES, surface));
    const plot = new uPlot(
      {
        ...made,
        width,
        height,
        legend: { show: false },
        hooks: { ...made.hooks, setCursor: [({ cursor }) => latest.current.onPoint?.(cursor.idx ?? null)] },
      },
      data,
      shown,
    );
    plot.over.addEventListener('click', () => {
      if (typeof plot.cursor.idx === 'number') latest.current.onClick?.(plot.cursor.idx);
    });
    chart.current = plot;
    return () => plot.destroy();
  }, [data, isKnown, surface]);
  useEffect(() => {
    if (width > 0) chart.current?.setSize({ width, height });
  }, [width, height]);

  return <div class="plot" ref={box} role="img" aria-label={label} style={{ height: `${height}px` }} />;
}

/** An axis with the look of the page. */
export function axisOf({ quiet, line }: Colours, more: uPlot.Axis = {}): uPlot.Axis {
  return {
    stroke: quiet,
    font: '13px system-ui, sans-serif',
    grid: { stroke: line, width: 1 },
    ticks: { show: false },
    gap: 8,
    ...more,
  };
}
