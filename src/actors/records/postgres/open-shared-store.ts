import { databaseError } from './database-error.ts';
import { JobEngine } from './job-engine.ts';
import { jobSchemaOf } from './job-queues.ts';
import { PostgresStore, type PostgresStoreOptions } from './postgres-store.ts';

/** A store shared by several daemons, with the engine that distributes their work. */
export interface SharedStore {
  store: PostgresStore;
  engine: Pick<JobEngine, 'start' | 'stop' | 'takeovers' | 'release' | 'counts' | 'statements'>;
}

/** Opens the PostgreSQL store of an agent and joins its daemons. Throws StoreError. */
export async function openSharedStore(options: PostgresStoreOptions): Promise<SharedStore> {
  const store = await PostgresStore.open(options);
  try {
    const engine = await JobEngine.open({
      database: store.database,
      schema: jobSchemaOf(options.schema),
      replica: store.replica,
      deadReplicas: () => store.deadReplicas(),
      isAlive: (replica) => store.isAlive(replica),
      forgetReplica: (replica) => store.forgetReplica(replica),
      explain: (error) => store.database.explain(error),
      log: options.log,
    });
    store.useJobs(engine);
    store.onReturn(() => engine.hurry());
    return { store, engine };
  } catch (error) {
    await store.close();
    throw databaseError(error, options);
  }
}
