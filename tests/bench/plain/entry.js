// The runner puts the modules of a build here under build/.
export { default } from "./build/index.js";
