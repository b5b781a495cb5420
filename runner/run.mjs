// Serves the Worker of a wrangler.toml on this machine; `--help` tells how. Tests, benchmarks, the demo and `./dev up`
// all use it. It goes through Miniflare's own interface, with two additions: containers outlive a crash (session.mjs),
// and workerd does not outlive this process (workerd.sh).
import { existsSync, fstatSync, readFileSync, readdirSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { HttpOptions_Style, Log, LogLevel, Miniflare, convertV4MiniflareOptions } from "miniflare";
import workerd from "workerd";
import { unstable_getMiniflareWorkerOptions, unstable_readConfig } from "wrangler";
import { migrate, runSql } from "./database.mjs";
import { checkImages } from "./engine.mjs";
import { UsageError, readOptions } from "./options.mjs";
import { lockState, noteSession, withFixedSession } from "./session.mjs";

const OUTBOUND = "outbound";

async function main() {
  const options = readOptions(process.argv.slice(2));
  if (!options) return;
  const worker = readWorker(options);
  await checkImages(options.docker, worker.tags);

  const unlock = lockState(options.state);
  const forget = noteSession(worker.root, options.state);
  process.env.RUNNER_WORKERD = workerd.default;
  process.env.MINIFLARE_WORKERD_PATH = fileURLToPath(new URL("workerd.sh", import.meta.url));

  process.on("exit", unlock);

  const miniflare = await withFixedSession(options.state, worker.tags.length > 0 ? 1 : 0, async () => {
    const started = new Miniflare(convertV4MiniflareOptions(settings(options, worker)));
    await started.ready;
    return started;
  });

  // Miniflare's own signal handlers exit at once and leave the removal of containers to a detached process, which would
  // remove those of a quick restart.
  let stopping;
  const stop = () => {
    stopping ??= miniflare.dispose().then(
      () => {
        forget();
        process.exit(0);
      },
      (error) => die(error),
    );
  };
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.removeAllListeners(signal).on(signal, stop);

  for (const { binding, migrations_dir: dir } of worker.databases) {
    await migrate(await miniflare.getD1Database(binding), join(worker.root, dir ?? "migrations"));
  }
  if (options.sql) await runSql(await miniflare.getD1Database(worker.databases[0].binding), options.sql);

  console.log(`ready ${(await miniflare.ready).origin}`);
  const input = fstatSync(0);
  if (input.isFIFO() || input.isSocket() || process.stdin.isTTY) process.stdin.resume().on("end", stop);
}

/** Everything about the Worker comes from its configuration; the options may only replace values in it. */
function readWorker(options) {
  if (!existsSync(options.config)) throw new UsageError(`${options.config}: there is no such file`);
  const root = dirname(options.config);
  const config = unstable_readConfig({ config: options.config }, { hideWarnings: true });
  // The modules are given whole, so the rules to find them go.
  const {
    main,
    workerOptions: { modulesRules: _, ...worker },
  } = unstable_getMiniflareWorkerOptions(config, undefined, { containerBuildId: "local" });

  const known = new Set([...Object.keys(worker.bindings), ...(config.secrets?.required ?? [])]);
  for (const name of Object.keys(options.vars)) {
    if (!known.has(name)) throw new UsageError(`--var ${name}: ${relative(process.cwd(), options.config)} has no such var or required secret`);
  }
  if (options.sql && config.d1_databases.length === 0) throw new UsageError("--sql: the configuration has no D1 database");

  const tags = [];
  const unused = new Set(Object.keys(options.images));
  for (const object of Object.values(worker.durableObjects ?? {})) {
    for (const image of object.container?.images ?? []) {
      image.image = options.images[image.name];
      if (!image.image) throw new UsageError(`image '${image.name}' of ${object.className} is not given: --image ${image.name}=TAG`);
      tags.push(image.image);
      unused.delete(image.name);
    }
  }
  if (unused.size > 0) throw new UsageError(`--image ${[...unused].join(", ")}: the configuration has no such image`);
  if (tags.length > 0) {
    if (!options.interceptor) throw new UsageError("containers need an interceptor: --interceptor TAG");
    tags.push(options.interceptor);
  }

  return {
    root,
    tags,
    databases: config.d1_databases,
    options: {
      ...worker,
      name: config.name,
      bindings: { ...worker.bindings, ...options.vars, ...options.secrets },
      modulesRoot: root,
      modules: modules(main, join(root, "build"), options.build ?? join(root, "build")),
      outboundService: { name: OUTBOUND, entrypoint: "Network" },
    },
  };
}

/** The entry as it is written, and the built modules under the path that it imports them from. */
function modules(entry, importedFrom, builtIn) {
  const built = existsSync(builtIn) ? readdirSync(builtIn).filter((name) => /\.(js|wasm)$/.test(name)) : [];
  if (!built.includes("index.js")) throw new UsageError(`${builtIn} holds no built Worker: run ./dev build`);
  return [
    { type: "ESModule", path: entry, contents: readFileSync(entry, "utf8") },
    ...built.map((name) => {
      const path = join(importedFrom, name);
      const contents = readFileSync(join(builtIn, name));
      return name.endsWith(".wasm") ? { type: "CompiledWasm", path, contents } : { type: "ESModule", path, contents: contents.toString() };
    }),
  ];
}

/** Certificates for the Worker's own requests: the usual ones, and what Node was told to trust besides. */
function trust() {
  const extra = process.env.NODE_EXTRA_CA_CERTS;
  const pem = extra && existsSync(extra) ? readFileSync(extra, "utf8") : "";
  return { trustBrowserCas: true, trustedCertificates: pem.match(/-----BEGIN CERTIFICATE-----[^]+?-----END CERTIFICATE-----/g) ?? [] };
}

/** The Worker's own requests go through here, since Miniflare would let them reach this machine and its networks. */
function outbound({ reach, upstream }) {
  const network = { network: { allow: ["public", ...reach], deny: [], tlsOptions: trust() } };
  // In the style of a proxy the request line keeps scheme, host and port of the URL.
  const named = upstream && { external: { address: upstream, http: { style: HttpOptions_Style.PROXY } } };
  return {
    name: OUTBOUND,
    compatibilityDate: "2026-01-01",
    modules: true,
    // Whoever asks with the right header has Miniflare route a request to any Worker's default entrypoint. So that one is
    // shut, and the way out has a name of its own. URLs are normalised here: a host is an address if it looks like one.
    script: `import { WorkerEntrypoint } from "cloudflare:workers";
      const ADDRESS = /^(\\[.*\\]|[0-9.]+)$/;
      export default { fetch: () => new Response("Nothing is served here.\\n", { status: 404 }) };
      export class Network extends WorkerEntrypoint {
        fetch(request) {
          const { NETWORK, NAMED = NETWORK } = this.env;
          return (ADDRESS.test(new URL(request.url).hostname) ? NETWORK : NAMED).fetch(request);
        }
      }`,
    serviceBindings: { NETWORK: network, ...(named && { NAMED: named }) },
  };
}

/** A Worker that the account's owner does not vouch for: bindings and props of its choice, as any Worker may have. */
function neighbour(options, worker) {
  const gateway = (entrypoint, props) => ({ name: worker.options.name, entrypoint, props });
  const forged = { object: "0".repeat(32) + "/sess_" + "0".repeat(32), epoch: 1, expires_at: 4102444800000, mac: "0".repeat(64) };
  return {
    name: "neighbour",
    compatibilityDate: "2026-01-01",
    modules: true,
    script: readFileSync(options.neighbour, "utf8"),
    routes: ["neighbour.example/*"],
    serviceBindings: {
      GATEWAY: gateway(),
      FORGED_HARNESS: gateway("HarnessEgress", forged),
      EMPTY_HARNESS: gateway("HarnessEgress", {}),
      FORGED_SANDBOX: gateway("SandboxEgress", forged),
      FORGED_BACKUP: gateway("BackupGateway", forged),
      EMPTY_BACKUP: gateway("BackupGateway", {}),
    },
  };
}

function settings(options, worker) {
  return {
    log: new Log(options.verbose ? LogLevel.VERBOSE : LogLevel.WARN),
    verbose: options.verbose,
    cf: false,
    telemetry: { enabled: false },
    host: options.host,
    port: options.port,
    resourcePersistencePath: options.state,
    containerEngine: { localDocker: { socketPath: options.docker, containerEgressInterceptorImage: options.interceptor ?? "none" } },
    workers: [worker.options, outbound(options), ...(options.neighbour ? [neighbour(options, worker)] : [])],
  };
}

function die(error) {
  const plain = error instanceof UsageError || error.code === "ERR_ADDRESS_IN_USE";
  console.error(plain ? `runner: ${error.message}` : error);
  process.exit(plain ? 2 : 1);
}

main().catch(die);
