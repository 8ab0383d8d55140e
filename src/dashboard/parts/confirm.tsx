import { useLayoutEffect, useRef, useState } from 'preact/hooks';

interface Props {
  /** Text of the button: `Revoke`. */
  name: string;
  /** Consequence of the button. */
  consequence: string;
  onConfirm: () => void;
}

/**
 * A button that asks once more. Escape, and leaving it, take the question back. The focus returns to the button, and to the list around it when
 * the button's own line is removed.
 */
export function ConfirmButton({ name, consequence, onConfirm }: Props) {
  const [isAsking, setAsking] = useState(false);
  const asks = useRef<HTMLButtonElement>(null);
  const yes = useRef<HTMLButtonElement>(null);
  const isAnswered = useRef(false);
  useLayoutEffect(() => {
    if (isAsking) yes.current?.focus();
    else if (isAnswered.current) asks.current?.focus();
    isAnswered.current = false;
  }, [isAsking]);
  useLayoutEffect(
    () => () => {
      if (asks.current && asks.current === document.activeElement) asks.current.closest('ul')?.focus();
    },
    [],
  );
  const answer = () => {
    isAnswered.current = true;
    setAsking(false);
  };
  if (!isAsking) {
    return (
      <button type="button" ref={asks} onClick={() => setAsking(true)}>
        {name}
      </button>
    );
  }
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: it hears the keys of its two buttons.
    <span
      class="confirm"
      onKeyDown={event => event.key === 'Escape' && answer()}
      onFocusOut={event => !event.currentTarget.contains(event.relatedTarget as Node | null) && setAsking(false)}
    >
      <span class="small">{consequence}</span>
      <button
        type="button"
        class="danger"
        ref={yes}
        onClick={() => {
          answer();
          onConfirm();
        }}
      >
        {name}
      </button>
      <button type="button" onClick={answer}>
        Keep
      </button>
    </span>
  );
}
