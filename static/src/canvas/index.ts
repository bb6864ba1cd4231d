import "./canvas.css";
import { DogCanvas } from "./canvas";

customElements.define("dog-canvas", DogCanvas);
