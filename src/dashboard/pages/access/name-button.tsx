import { useLayoutEffect, useRef, useState } from 'preact/hooks';

interface Props {
  /** Text of the button: `Rename`. */
  button: string;
  label: string;
  maxLength?: number;
  isRequired?: boolean;
  isSending: boolean;
  /** Resolves with whether it was done. */
  onSubmit: (name: string) => Promise<boolean>;
}

/** A button that asks for a name. Escape takes the question back. The focus then returns to the button. */
export function NameButton({ button, label, maxLength = 200, isRequired = false, isSending, onSubmit }: Props) {
  const [name, setName] = useState<string | null>(null);
  const asks = useRef<HTMLButtonElement>(null);
  const field = useRef<HTMLInputElement>(null);
  const wasAsking = useRef(false);
  const isAsking = name !== null;
  useLayoutEffect(() => {
    if (isAsking) field.current?.focus();
    else if (wasAsking.current) asks.current?.focus();
    wasAsking.current = isAsking;
  }, [isAsking]);
  if (name === null) {
    return (
      <button type="button" ref={asks} onClick={() => setName('')}>
        {button}
      </button>
    );
  }
  return (
    <form
      class="choices asking"
      onKeyDown={event => event.key === 'Escape' && setName(null)}
      onSubmit={event => {
        event.preventDefault();
        void onSubmit(name.trim()).then(isDone => isDone && setName(null));
      }}
    >
      <label>
        {label}
        <input
          ref={field}
          value={name}
          maxLength={maxLength}
          required={isRequired}
          autocomplete="off"
          onInput={event => setName(event.currentTarget.value)}
        />
      </label>
      <button type="submit" disabled={isSending}>
        {button}
      </button>
      <button type="button" onClick={() => setName(null)}>
        Cancel
      </button>
    </form>
  );
}
