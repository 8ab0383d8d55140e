import type { ComponentChildren } from 'preact';
import { useEffect, useRef } from 'preact/hooks';

/** A panel at the right edge over the page. Escape, a click beside it and its button close it; the focus returns to where it was. */
export function Drawer({ title, onClose, children }: { title: ComponentChildren; onClose: () => void; children: ComponentChildren }) {
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => dialog.current?.showModal(), []);
  return (
    <dialog
      class="drawer"
      ref={dialog}
      aria-labelledby="drawer-title"
      onClose={onClose}
      onClick={event => event.target === dialog.current && dialog.current?.close()}
      onKeyDown={event => event.stopPropagation()}
    >
      <header>
        <h2 id="drawer-title">{title}</h2>
        <button type="button" aria-label="Close" onClick={() => dialog.current?.close()}>
          ✕
        </button>
      </header>
      <div class="body">{children}</div>
    </dialog>
  );
}
