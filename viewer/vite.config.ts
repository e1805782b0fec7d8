import { defineConfig } from "vite";

// The built page lies in the Python package, with links that work below any path.
export default defineConfig({
  base: "./",
  build: { outDir: "../zarr/serving/page", emptyOutDir: true, target: "es2022", chunkSizeWarningLimit: 900 },
  worker: { format: "es" },
});
