/** What a server says of a token that anyone may read, where it may not do what a request asks. Clients know such a token by these words. */
export const NOT_OPEN = 'is not open to a public token';
