/** One server of a database, and how to get in. */
export interface Address {
  /** A name, an IP address, or the folder of a Unix socket. */
  host: string;
  port: number;
  database: string;
  /** Null: the user of the operating system. */
  user: string | null;
  password: string | null;
  /** The certificate of the server is checked: its chain and its name. */
  isTls: boolean;
}

const FORM =
  'it must be like postgres://user@host:5432/database, with several hosts separated by commas; special characters of the user and its password are written like %40';

/** The servers that a URL names, with the same database on each. Throws a sentence, without the password, when it names none. */
export function addressesOf(url: string): Address[] {
  const parts = /^postgres(?:ql)?:\/\/(?:([^@/?:]*)(?::([^@/?]*))?@)?([^@/?]+)\/([^/?#]+)(?:\?(.*))?$/.exec(url);
  if (!parts) throw new Error(FORM);
  const [, user, password, hosts, database, parameters] = parts;
  const isTls = isTlsBy(new URLSearchParams(parameters));
  return hosts!.split(',').map(text => {
    const [, name, port = '5432'] = /^(\[[^\]]+\]|[^:]+)(?::(\d{1,5}))?$/.exec(text) ?? [];
    if (name === undefined || Number(port) === 0 || Number(port) > 65_535) throw new Error(FORM);
    const host = decoded(name).replace(/^\[(.*)\]$/, '$1');
    return {
      host,
      port: Number(port),
      database: decoded(database!),
      user: user ? decoded(user) : null,
      password: password ? decoded(password) : null,
      // A Unix socket has no TLS.
      isTls: isTls && !host.startsWith('/'),
    };
  });
}

/** Reports whether a server is this machine. */
export function isLocal({ host }: Address): boolean {
  return host.startsWith('/') || host === 'localhost' || host === '::1' || /^127(\.\d{1,3}){3}$/.test(host);
}

function isTlsBy(parameters: URLSearchParams): boolean {
  for (const name of parameters.keys())
    if (name !== 'sslmode') throw new Error(`it has the parameter "${name}": leave that out, because only sslmode is known`);
  const mode = parameters.get('sslmode') ?? 'disable';
  if (mode === 'verify-full' || mode === 'disable') return mode === 'verify-full';
  throw new Error(
    `sslmode=${mode} would not check, or not fully, which server answers: write sslmode=verify-full, and name the certificate of its authority unless that is a public one; or sslmode=disable, for a connection that others can read`,
  );
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    throw new Error(FORM);
  }
}
