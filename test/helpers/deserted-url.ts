/**
 * An address where no program listens: other tests use 127.0.0.1, so none of them can be given this port meanwhile, as
 * it happens to a port that was just closed.
 */
export const desertedUrl = 'http://127.213.4.7:49151';
