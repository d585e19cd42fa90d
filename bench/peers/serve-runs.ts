import { type Runs, type Work, work } from './runs.ts';

/** What a program of this folder is started with. */
export interface Start {
  /** Where it keeps what must outlive it. */
  directory: string;
  /** What its server said of itself, where it has one. */
  server: Record<string, string>;
  /** Whether every commit reaches the disk before it is reported, of those that leave it open. */
  isFull: boolean;
}

/** Opens the runs of a program, reports that to the benchmark that started it, and serves its requests until it exits. */
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

/** Reports the address of a running server, and stops it when the benchmark that started it exits. */
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
