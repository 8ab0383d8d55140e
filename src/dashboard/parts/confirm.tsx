import { useEffect, useRef, useState } from 'preact/hooks';

interface Props {
  /** What the button does: `Revoke`. */
  name: string;
  /** What follows from it. */
  consequence: string;
  onConfirm: () => void;
}

/** A button that asks once more. Escape, and leaving it, take the question back. */
export function ConfirmButton({ name, consequence, onConfirm }: Props) {
  const [isAsking, setAsking] = useState(false);
  const yes = useRef<HTMLButtonElement>(null);
  useEffect(() => {
    if (isAsking) yes.current?.focus();
  }, [isAsking]);
  if (!isAsking) {
    return (
      <button type="button" onClick={() => setAsking(true)}>
        {name}
      </button>
    );
  }
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: it hears the keys of its two buttons.
    <span
      class="confirm"
      onKeyDown={event => event.key === 'Escape' && setAsking(false)}
      onFocusOut={event => !event.currentTarget.contains(event.relatedTarget as Node | null) && setAsking(false)}
    >
      <span class="small">{consequence}</span>
      <button
        type="button"
        class="danger"
        ref={yes}
        onClick={() => {
          setAsking(false);
          onConfirm();
        }}
      >
        {name}
      </button>
      <button type="button" onClick={() => setAsking(false)}>
        Keep
      </button>
    </span>
  );
}
