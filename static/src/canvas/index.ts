import "./canvas.css";
import { startFolds } from "../folded";
import { DogCanvas } from "./canvas";

startFolds();
customElements.define("dog-canvas", DogCanvas);
