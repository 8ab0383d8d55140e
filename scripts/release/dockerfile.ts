/** How an image runs, as in the configuration of an OCI image. */
export interface ImageSettings {
  User: string;
  WorkingDir: string;
  Env: string[];
  ExposedPorts: Record<string, object>;
  Volumes: Record<string, object>;
  Entrypoint: string[];
  Cmd: string[];
  /** Of Docker; durations in nanoseconds. */
  Healthcheck: { Test: string[]; Interval: number; Timeout: number; StartPeriod: number; Retries: number };
}

/**
 * Reads how the image of a Dockerfile runs: what the instructions of its last stage say that make no layer. Commands must be lists, and an
 * instruction may be there once. Throws if one is missing.
 */
export function imageSettings(dockerfile: string): ImageSettings {
  const stage = dockerfile
    .replaceAll(/^#.*\n/gm, '')
    .replaceAll('\\\n', '')
    .split(/^FROM /m)
    .at(-1)!;
  const after = (instruction: string) => {
    const found = new RegExp(`^${instruction} +(.+)$`, 'm').exec(stage)?.[1];
    if (found === undefined) throw new Error(`cannot read how the image runs: the last stage of the Dockerfile has no ${instruction}`);
    return found.trim();
  };
  const [options, test] = after('HEALTHCHECK').split(/ +CMD +/) as [string, string];
  const option = (name: string) => Number(new RegExp(`--${name}=(\\d+)`).exec(options)![1]);
  return {
    User: after('USER'),
    WorkingDir: after('WORKDIR'),
    Env: after('ENV').split(/ +/),
    ExposedPorts: { [`${after('EXPOSE')}/tcp`]: {} },
    Volumes: { [after('VOLUME')]: {} },
    Entrypoint: JSON.parse(after('ENTRYPOINT')) as string[],
    Cmd: JSON.parse(after('CMD')) as string[],
    Healthcheck: {
      Test: ['CMD', ...(JSON.parse(test) as string[])],
      Interval: option('interval') * 1e9,
      Timeout: option('timeout') * 1e9,
      StartPeriod: option('start-period') * 1e9,
      Retries: option('retries'),
    },
  };
}
