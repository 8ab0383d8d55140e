import { useState } from 'preact/hooks';

/** Copies the address, which holds everything that is seen. Where the browser forbids that, it shows the address to copy. */
export function Share() {
  const [state, setState] = useState<'ready' | 'copied' | 'shown'>('ready');
  const copy = () => {
    // A page that came over plain HTTP has no clipboard.
    const copied = navigator.clipboard ? navigator.clipboard.writeText(location.href) : Promise.reject(new Error('no clipboard'));
    copied.then(
      () => setState('copied'),
      () => setState('shown'),
    );
  };
  if (state === 'shown')
    return <input class="share" aria-label="The address of what you see" readOnly value={location.href} ref={input => input?.select()} />;
  return (
    <button type="button" class="plain" onClick={copy}>
      <span aria-live="polite">{state === 'copied' ? 'Link copied' : 'Copy link'}</span>
    </button>
  );
}
