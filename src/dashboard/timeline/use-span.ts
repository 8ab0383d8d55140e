import { useEffect, useRef, useState } from 'preact/hooks';
import { setQuery, useAddress } from '../routes/router.js';
import { parseSpan, type Span, spanText } from './view.js';

/** The address follows after this many milliseconds: browsers refuse to change it with each turn of a wheel. */
const PAUSE = 250;

/** A span of time that stands in the address under a name; null: there is none. */
export function useSpan(name: string): [Span | null, (span: Span | null) => void] {
  const text = useAddress().query.get(name);
  const [span, setSpan] = useState(() => parseSpan(text));
  const written = useRef(text);
  const timer = useRef<ReturnType<typeof setTimeout> | undefined>(undefined);
  useEffect(() => {
    if (text === written.current) return;
    written.current = text;
    setSpan(parseSpan(text));
  }, [text]);
  useEffect(() => () => clearTimeout(timer.current), []);
  const change = (span: Span | null) => {
    setSpan(span);
    clearTimeout(timer.current);
    timer.current = setTimeout(() => {
      written.current = span && spanText(span);
      setQuery({ [name]: written.current });
    }, PAUSE);
  };
  return [span, change];
}
