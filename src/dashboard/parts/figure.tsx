import type { ComponentChildren } from 'preact';

interface Props {
  title: string;
  /** Meaning of the figure, on hover. */
  about?: string;
  children: ComponentChildren;
}

/** A figure with its title, in a list of class "figures". */
export function Figure({ title, about, children }: Props) {
  return (
    <div title={about}>
      <dt class="quiet small">{title}</dt>
      <dd>{children}</dd>
    </div>
  );
}
