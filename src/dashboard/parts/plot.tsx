import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import uPlot from 'uplot';
import { useWidth } from './width.js';

/** Colours of the style sheet as a canvas takes them. */
export type Colours = Record<'work' | 'over' | 'idle' | 'text' | 'quiet' | 'line' | 'ground', string>;

interface Props {
  /** What is drawn, for readers who do not see it. The page has the same as a table. */
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
  const scheme = useScheme();
  const isKnown = width > 0;

  useLayoutEffect(() => {
    const shown = box.current;
    if (!isKnown || !shown) return;
    const made = options(coloursOf(shown));
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
  }, [data, isKnown, scheme]);
  useEffect(() => {
    if (width > 0) chart.current?.setSize({ width, height });
  }, [width, height]);

  return <div class="plot" ref={box} role="img" aria-label={label} style={{ height: `${height}px` }} />;
}

/** Changes when the reader's system changes between light and dark. */
function useScheme(): boolean {
  const [isDark, setDark] = useState(() => matchMedia('(prefers-color-scheme: dark)').matches);
  useEffect(() => {
    const query = matchMedia('(prefers-color-scheme: dark)');
    const update = () => setDark(query.matches);
    query.addEventListener('change', update);
    return () => query.removeEventListener('change', update);
  }, []);
  return isDark;
}

/** A canvas does not know variables and light-dark(): the computed colour of an element does. */
function coloursOf(element: HTMLElement): Colours {
  const probe = element.appendChild(document.createElement('span'));
  const colour = (name: string) => {
    probe.style.color = `var(--${name})`;
    return getComputedStyle(probe).color;
  };
  const colours = Object.fromEntries(
    ['work', 'over', 'idle', 'text', 'quiet', 'line', 'ground'].map(name => [name, colour(name)]),
  ) as Colours;
  probe.remove();
  return colours;
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
