/** Asks workers for parts of arrays; what is asked for last is read first, and may be given up again. */
import type { Answer, Question, Values } from "./worker";

export type { Values } from "./worker";
export type Selection = (number | [number, number])[];

export interface Part {
  values: Values;
  shape: number[];
}

interface Job {
  question: Question;
  isWanted: () => boolean;
  resolve: (part: Part | null) => void;
  reject: (error: Error) => void;
}

const WORKERS = Math.max(2, Math.min(4, navigator.hardwareConcurrency || 2));
const PER_WORKER = 4;

export class Reader {
  private readonly workers: { worker: Worker; busy: number }[] = [];
  private readonly waiting: Job[] = [];
  private readonly running = new Map<number, Job>();
  private next = 0;

  constructor(readonly url: string) {
    for (let number = 0; number < WORKERS; number++) {
      const entry = { worker: new Worker(new URL("./worker.ts", import.meta.url), { type: "module" }), busy: 0 };
      entry.worker.addEventListener("message", (event: MessageEvent<Answer>) => {
        entry.busy--;
        this.end(event.data);
      });
      this.workers.push(entry);
    }
  }

  /** Read a part of an array; null if it was not wanted any more when its turn came. */
  read(path: string, selection: Selection, isWanted: () => boolean = () => true): Promise<Part | null> {
    return new Promise((resolve, reject) => {
      const question = { id: this.next++, url: this.url, path, selection };
      this.waiting.push({ question, isWanted, resolve, reject });
      this.start();
    });
  }

  private start(): void {
    while (this.waiting.length) {
      const free = this.workers.reduce((one, other) => (other.busy < one.busy ? other : one));
      if (free.busy >= PER_WORKER) return;
      const job = this.waiting.pop()!;
      if (!job.isWanted()) {
        job.resolve(null);
        continue;
      }
      free.busy++;
      this.running.set(job.question.id, job);
      free.worker.postMessage(job.question);
    }
  }

  private end(answer: Answer): void {
    const job = this.running.get(answer.id)!;
    this.running.delete(answer.id);
    if ("error" in answer) job.reject(new Error(answer.error));
    else job.resolve({ values: answer.values, shape: answer.shape });
    this.start();
  }
}
