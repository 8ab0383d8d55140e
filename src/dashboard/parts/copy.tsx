import { useEffect, useRef, useState } from 'preact/hooks';

/** Time that the button says that it copied, in milliseconds. */
const THANKS = 2000;

/** A button that copies a text. */
export function CopyButton({ text, name = 'Copy' }: { text: string; name?: string }) {
  const [outcome, setOutcome] = useState<'copied' | 'failed' | null>(null);
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  useEffect(() => () => clearTimeout(timer.current), []);
  const copy = async () => {
    setOutcome((await copied(text)) ? 'copied' : 'failed');
    clearTimeout(timer.current);
    timer.current = setTimeout(() => setOutcome(null), THANKS);
  };
  return (
    <button type="button" class="copy" onClick={() => void copy()}>
      <span aria-live="polite">{outcome === 'copied' ? 'Copied' : outcome === 'failed' ? 'Select it and copy' : name}</span>
    </button>
  );
}

/** Browsers offer the clipboard only to pages that came by TLS or from this machine. Elsewhere a selection is copied. */
async function copied(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return copySelection(text);
  }
}

function copySelection(text: string): boolean {
  const field = document.createElement('textarea');
  field.value = text;
  field.className = 'unseen';
  const before = document.activeElement;
  document.body.append(field);
  field.select();
  try {
    return document.execCommand('copy');
  } finally {
    field.remove();
    if (before instanceof HTMLElement) before.focus();
  }
}

/** A secret that is shown once. */
export function Secret({ title, text, children }: { title: string; text: string; children?: string }) {
  return (
    <div class="secret" role="status">
      <p>
        <strong>{title}</strong> It is shown only now.
      </p>
      <p class="line">
        <code>{text}</code>
        <CopyButton text={text} />
      </p>
      {children && <p class="small quiet">{children}</p>}
    </div>
  );
}
