import { describe, expect, it } from 'vitest';
import {
  DatabaseError,
  databaseError,
} from '../../../../src/actors/records/postgres/database-error.ts';
import { StoreError } from '../../../../src/actors/records/store/store-error.ts';
import { UnreachableError } from '../../../../src/actors/records/store/task-store.ts';

const where = { variable: 'REFUNDS_URL', schema: 'refunds' };

function failing(code: string, message = 'postgres://ann:hush@db.internal/agents'): Error {
  return Object.assign(new Error(message), code === '' ? {} : { code });
}

describe('databaseError', () => {
  it.each([
    ['ECONNREFUSED', 'start PostgreSQL'],
    ['ENOTFOUND', 'correct the host in REFUNDS_URL'],
    ['ETIMEDOUT', 'check the way there'],
    ['ENOENT', 'correct REFUNDS_URL, or the permissions of that file'],
    ['28P01', 'correct them in REFUNDS_URL and restart the daemon'],
    ['28000', 'in the file of PGPASSFILE'],
    ['3D000', 'create it on the server'],
    ['42501', 'make it the owner of refunds and refunds_jobs'],
    ['25006', 'name the primary in REFUNDS_URL'],
    ['53300', 'raise max_connections of PostgreSQL, or lower store.pool'],
    ['57P01', 'look at the log of PostgreSQL'],
    ['ECONNRESET', 'look at the log of PostgreSQL'],
    ['SELF_SIGNED_CERT_IN_CHAIN', 'certificate of that authority to REFUNDS_URL'],
    ['ERR_TLS_CERT_ALTNAME_INVALID', 'write the host in REFUNDS_URL'],
    ['CERT_NOT_YET_VALID', 'set the clock of this machine right'],
    ['ERR_SSL_WRONG_VERSION_NUMBER', 'correct sslmode and the certificates in REFUNDS_URL'],
    ['55P03', 'try again once others no longer hold its tables'],
    ['XX000', 'look at the log of PostgreSQL'],
    ['', 'look at the log of PostgreSQL'],
  ])('states for %j the remedy, and no address', (code, remedy) => {
    const { message } = databaseError(failing(code), where);
    expect(message).toContain(remedy);
    expect(message).not.toMatch(/hush|db\.internal|\bann\b|\(\)/);
    expect(message.split('; ')).toHaveLength(2);
  });

  it.each([
    ['timeout expired', 'since it does not answer'],
    ['Connection terminated unexpectedly', 'ended the connection'],
    ['The server does not support SSL connections', 'sslmode=disable in REFUNDS_URL'],
    ['There was an error establishing an SSL connection', 'over TLS, which its URL requires'],
    ['SASL: SCRAM-SERVER-FIRST-MESSAGE: client password must be a string', 'refuses'],
    ['the schema of the engine is a later one', '(the schema of the engine is a later one)'],
  ])('reads driver errors without a code: %s', (said, sentence) => {
    expect(databaseError(failing('', said), where).message).toContain(sentence);
  });

  it('reads the cause of our errors, and keeps those of the store', () => {
    const refused = databaseError(new UnreachableError(failing('28P01')), where);
    expect(refused).toBeInstanceOf(DatabaseError);
    expect(refused).toMatchObject({
      reason: 'the database of REFUNDS_URL refuses the user and password in it',
    });
    const unanswered = databaseError(new UnreachableError(failing('', 'timeout expired')), where);
    expect(unanswered).toMatchObject({
      reason: 'the database of REFUNDS_URL cannot be reached, since it does not answer',
    });
    const ours = new StoreError('the schema is not empty');
    expect(databaseError(ours, where)).toBe(ours);
  });
});
