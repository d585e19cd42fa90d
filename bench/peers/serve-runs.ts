import { type Runs, type Work, work } from './runs.ts';

/** What a program of this folder is started with. */
export interface Start {
  /** Where it keeps what must outlive it. */
  directory: string;
  /** What its server said of itself, where it has one. */
  server: Record<string, string>;
  /** Whether every commit reaches the disk before it is told, of those that leave it open. */
  isFull: boolean;
}

/** Opens the runs of a program, says so to the benchmark that started it, and does what that asks until it is gone. */
export async function serve(open: (start: Start) => Promise<Runs>): Promise<void> {
  endWithBench();
  const runs = await open(JSON.parse(process.argv[2] ?? '{}') as Start);
  process.on('message', (asked: Work) => {
    work(runs, asked).then(
      (answer) => process.send?.({ answer }),
      (error: unknown) => process.send?.({ failed: String(error) }),
    );
  });
  process.send?.({ answer: {} });
}

/** Says what others need to know of a server that runs, and ends it with the benchmark that started it. */
export function serveServer(
  pid: number,
  server: Record<string, string>,
  end: () => Promise<unknown>,
): void {
  process.on('disconnect', () => {
    void end().finally(() => process.exit());
  });
  process.send?.({ answer: { pid, server } });
}

/** No program outlives the benchmark, however that ends. */
function endWithBench(): void {
  process.on('disconnect', () => process.exit());
}
