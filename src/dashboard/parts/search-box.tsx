import type { ComponentChildren } from 'preact';
import { useLayoutEffect, useRef, useState } from 'preact/hooks';

/** Pause in typing after which the search begins, in milliseconds. */
const PAUSE = 200;

interface Props {
  label: string;
  placeholder: string;
  value: string;
  onSearch: (value: string) => void;
  /** The words that were not understood, and those that there are. */
  children?: ComponentChildren;
}

/** One line to search with. The key `/` goes to it. */
export function SearchBox({ label, placeholder, value, onSearch, children }: Props) {
  const input = useRef<HTMLInputElement>(null);
  const timer = useRef<ReturnType<typeof setTimeout> | undefined>(undefined);
  const [text, setText] = useState(value);
  /** Text of the last search. It comes back as `value`, when the reader may have typed more. */
  const searched = useRef(value);
  // Layout effects, because others begin after the paint. A new search takes no text away that the reader typed since it is seen.
  useLayoutEffect(() => {
    if (value !== searched.current) setText(value);
    searched.current = value;
  }, [value]);
  // The key works as soon as the line is visible.
  useLayoutEffect(() => {
    const focus = (event: KeyboardEvent) => {
      if (event.key !== '/' || event.ctrlKey || event.metaKey || isTyping(event.target)) return;
      event.preventDefault();
      input.current?.select();
    };
    addEventListener('keydown', focus);
    return () => {
      removeEventListener('keydown', focus);
      clearTimeout(timer.current);
    };
  }, []);
  const search = (value: string, pause: number) => {
    clearTimeout(timer.current);
    timer.current = setTimeout(() => {
      searched.current = value.trim();
      onSearch(searched.current);
    }, pause);
  };
  return (
    <search class="search">
      <input
        ref={input}
        type="search"
        aria-label={label}
        placeholder={placeholder}
        value={text}
        maxLength={1000}
        spellcheck={false}
        autocomplete="off"
        onInput={event => {
          setText(event.currentTarget.value);
          search(event.currentTarget.value, PAUSE);
        }}
        onKeyDown={event => event.key === 'Enter' && search(event.currentTarget.value, 0)}
      />
      <div class="hint quiet small" aria-live="polite">
        {children}
      </div>
    </search>
  );
}

/** Keys belong to a field that has the focus. */
function isTyping(target: EventTarget | null): boolean {
  return target instanceof Element && target.closest('input, textarea, select, dialog') !== null;
}
